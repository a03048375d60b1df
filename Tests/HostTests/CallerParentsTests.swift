import EnclaveWire
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanDER
import Witness

/// What the witness reports of the processes above a program, for the access log (Specs/caller-identity.md).
@Suite struct CallerParentsTests {
    private let folder: TestFolder
    private let witness: CallerWitness
    private let me = Self.resolved("/proc/self/exe")

    init() throws {
        folder = try TestFolder()
        witness = CallerWitness(commandLineFolder: folder.path)
    }

    private static func resolved(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    private func identity(_ pid: Int32) throws -> CallerIdentity {
        try witness.identity(ofProcess: Int64(pid), heldBy: ProcessMonitor(pid).process)
    }

    /// Returns the identity of the youngest process below a program, once that process answers.
    private func identityBelow(_ program: Waiter) throws -> CallerIdentity {
        #expect(try program.answers())
        return try identity(try #require(Waiter.children(of: program.pid).first))
    }

    @Test("The processes above a program are reported, the nearest first") func nearestFirst() throws {
        let shell = try Waiter("/bin/sh", ["-c", "/bin/cat; :"])
        let identity = try identityBelow(shell)
        #expect(identity.executable?.path == Self.resolved("/bin/cat"))
        #expect(identity.parents.prefix(2) == [Self.resolved("/bin/sh"), me])
        #expect(try CallerIdentity(derBytes: identity.encoded()) == identity)
        let direct = try Waiter("/bin/cat")
        #expect(try direct.answers())
        #expect(try self.identity(direct.pid).parents.starts(with: identity.parents.dropFirst()))
    }

    @Test("For the command line, the processes above the program that uses it are reported") func aboveTheCommandLine() throws {
        let commandLine = "\(folder.path)/vauban"
        try ProgramFile.copy("/bin/cat", to: commandLine)
        let identity = try identityBelow(try Waiter("/bin/sh", ["-c", "\(commandLine); :"]))
        #expect(identity.throughCommandLine && identity.chain == [commandLine, Self.resolved("/bin/sh")])
        #expect(identity.parents.first == me)
    }

    @Test("At most eight processes are reported") func atMostEight() throws {
        let words = [String](repeating: "/usr/bin/timeout 1000", count: 10).flatMap { $0.split(separator: " ").map(String.init) }
        let identity = try identityBelow(try Waiter(words[0], Array(words.dropFirst()) + ["/bin/cat"]))
        #expect(identity.parents == [String](repeating: Self.resolved("/usr/bin/timeout"), count: CallerIdentity.parentsMax))
    }

    /// The name is no UTF-8. The shell deletes itself, since Foundation could not.
    @Test("A process whose path cannot be reported is an empty text, and those above it follow") func pathWithoutText() throws {
        try ProgramFile.copy("/bin/sh", to: "\(folder.path)/sh")
        let script = #"name=$(printf '%s/\377' "$1"); mv "$1/sh" "$name"; exec "$name" -c 'rm "$1"; /bin/cat; :' sh "$name""#
        let identity = try identityBelow(try Waiter("/bin/sh", ["-c", script, "sh", folder.path]))
        #expect(identity.parents.prefix(2) == ["", me])
    }

    @Test("A process is reported by its file, whatever it calls itself") func nameOfItsOwn() throws {
        guard access("/bin/bash", X_OK) == 0 else { try Test.cancel("there is no bash here") }
        let shell = try Waiter("/bin/bash", ["-c", "exec -a /usr/sbin/sshd /bin/bash -c 'echo sshd >/proc/self/comm; /bin/cat; :'"])
        #expect(try identityBelow(shell).parents.prefix(2) == [Self.resolved("/bin/bash"), me])
    }

    @Test("A process that executes another program is reported as that one, and a deleted file as deleted") func changesMeanwhile() throws {
        let (first, second) = ("\(folder.path)/first", "\(folder.path)/second")
        try ProgramFile.copy("/bin/sh", to: first)
        try ProgramFile.copy("/bin/cat", to: second)
        // The child reports its own number once it executes its program, since a process that does so meanwhile is not identified.
        let never = "\(folder.path)/never"
        let script = "exec 3<&0; mkfifo \(never); /bin/sh -c 'echo $$; read line' <>\(never) & exec \(second) <&3"
        let shell = try Waiter(first, ["-c", script])
        let child = try #require(Int32(try shell.line()))
        defer { shell.end() }
        #expect(try shell.answers())
        #expect(try identity(child).parents.prefix(2) == [second, me])
        try FileManager.default.removeItem(atPath: second)
        #expect(try identity(child).parents.prefix(2) == ["\(second) (deleted)", me])
    }
}
