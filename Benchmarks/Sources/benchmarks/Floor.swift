import Glibc

/// The minimum cost of a request to another process: 200 bytes each way over a Unix stream socket, without any work in between. The other
/// process runs this program too.
struct Floor {
    static let bytes = 200
    static let echoArgument = "echo"

    private let socket: Int32
    private let child: pid_t

    init() throws {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { throw Failure("no pair of sockets: \(errno)") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(CommandLine.arguments[0]), strdup(Self.echoArgument), nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        let problem = posix_spawn(&pid, "/proc/self/exe", &actions, nil, &arguments, environ)
        close(ends[1])
        guard problem == 0 else { throw Failure("the other process does not start: \(problem)") }
        socket = ends[0]
        child = pid
    }

    /// Closes the socket, which ends the other process.
    func end() {
        close(socket)
        var status: Int32 = 0
        waitpid(child, &status, 0)
    }

    func measure(_ count: Int) throws -> Samples {
        var buffer = [UInt8](repeating: 7, count: Self.bytes)
        return try Samples(count) { _ in
            guard write(socket, &buffer, buffer.count) == buffer.count, Self.readAll(socket, &buffer) else {
                throw Failure("the other process is gone")
            }
        }
    }

    /// Echoes messages as the other process, until its socket ends.
    static func echo() -> Never {
        var buffer = [UInt8](repeating: 0, count: bytes)
        while readAll(STDIN_FILENO, &buffer), write(STDIN_FILENO, &buffer, buffer.count) == buffer.count {}
        exit(0)
    }

    private static func readAll(_ socket: Int32, _ buffer: inout [UInt8]) -> Bool {
        var done = 0
        while done < buffer.count {
            let count = buffer.withUnsafeMutableBytes { read(socket, $0.baseAddress! + done, $0.count - done) }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}
