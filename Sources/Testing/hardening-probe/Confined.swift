import CVaubanProbe
import Dispatch
import Foundation
import Glibc
import VaubanLinuxHost
import VaubanRoomHardening
import VaubanSecretBytes

/// Attempts from inside a room's hardening.
struct Confined {
    private let profile: RoomProfile
    private let state: String
    private let without: Set<HardeningFeature>
    private let attempts: [String]
    private var landlockVersionMax = Int32.max
    private var ports: [UInt16]?

    init(_ words: inout [String]) {
        guard words.count >= 2, let profile = RoomProfile.all.first(where: { $0.name == words[0] }) else {
            fail("confined ROOM STATE ATTEMPT…")
        }
        self.profile = profile
        state = words[1]
        words.removeFirst(2)
        if words.first == "--without", words.count > 1 {
            without = Set(words[1].split(separator: ",").compactMap { HardeningFeature(rawValue: String($0)) })
            words.removeFirst(2)
        } else {
            without = []
        }
        if words.first == "--landlock", words.count > 1 {
            landlockVersionMax = Int32(words[1]) ?? 1
            words.removeFirst(2)
        }
        if words.first == "--ports", words.count > 1 {
            ports = words[1].split(separator: ",").compactMap { UInt16($0) }
            words.removeFirst(2)
        }
        attempts = words
    }

    func run() {
        Self.each(attempts, inside)
    }

    /// Makes each attempt in a separate child process, and prints the result.
    static func each(_ attempts: [String], _ make: (String) -> Int32) {
        for attempt in attempts {
            let child = vauban_probe_fork()
            if child == 0 { exit(make(attempt)) }
            let ending = vauban_probe_wait(child)
            switch ending {
            case 0: say("\(attempt) done")
            case 1000...: say("\(attempt) killed \(ending - 1000)")
            default: say("\(attempt) refused \(ending)")
            }
        }
    }

    /// Returns the errno of the attempt, or 0. 255 is an error of the probe itself.
    private func inside(_ attempt: String) -> Int32 {
        do {
            let folder = profile.holdsSecrets ? try PrivateFolder(path: state, creating: false) : nil
            var hardening = try RoomHardening(profile, without: without)
            hardening.landlockVersionMax = landlockVersionMax
            _ = try hardening.confine(state: folder, connectingTo: ports)
            return Self.perform(attempt)
        } catch {
            FileHandle.standardError.write(Data("hardening-probe: \(error)\n".utf8))
            return 255
        }
    }

    static func perform(_ attempt: String) -> Int32 {
        perform(attempt.split(separator: ":", omittingEmptySubsequences: false).map(String.init))
    }

    private static func perform(_ words: [String]) -> Int32 {
        let argument = words.count > 1 ? words[1] : ""
        switch words[0] {
        case "call":
            var numbers = words.dropFirst(2).map { Int($0) ?? 0 }
            while numbers.count < 6 { numbers.append(0) }
            let result = vauban_probe_call(argument, numbers)
            // An unknown name cannot be tried.
            return result < -255 ? 254 : result < 0 ? Int32(-result) : 0
        case "read": return opening(argument, O_RDONLY)
        case "change": return opening(argument, O_WRONLY)
        case "empty": return opening(argument, O_RDONLY | O_TRUNC)
        case "create": return opening(argument, O_WRONLY | O_CREAT)
        case "list": return opening(argument, O_RDONLY | O_DIRECTORY)
        case "remove": return unlink(argument) == 0 ? 0 : errno
        case "move": return rename(argument, argument + ".moved") == 0 ? 0 : errno
        case "threads": return opening("/proc/\(getpid())/task/\(getpid())/stat", O_RDONLY)
        case "backlog": return backlog()
        case "secret": return secret(argument)
        case "memory": return memory(of: argument)
        case "thread": return thread()
        case "code":
            let page = mmap(nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | 0x20, -1, 0)
            return page == UnsafeMutableRawPointer(bitPattern: -1) ? errno : 0
        case "own-memory":
            // Through a file: the kernel does not check such writes against the protection of pages.
            _ = vauban_probe_call("prctl", [4, 1, 0, 0, 0, 0])  // PR_SET_DUMPABLE
            return opening("/proc/self/mem", O_RDWR)
        case "limit":
            // Changes the size limit of core files, which is harmless. A limit on processor time would end the process.
            var none = rlimit()
            return withUnsafeMutablePointer(to: &none) { none in
                let result = vauban_probe_call("prlimit64", [Int(argument) ?? 0, 4, Int(bitPattern: none), 0, 0, 0])  // RLIMIT_CORE
                return result < 0 ? Int32(-result) : 0
            }
        case "own-code": return -vauban_probe_open_code()
        case "abort": abort()
        case "network": return -vauban_probe_dial_network()
        case "abstract": return -vauban_probe_dial_abstract(argument)
        case "name": return naming(argument)
        case "signal": return kill(pid_t(argument) ?? 0, 0) == 0 ? 0 : errno
        case "end": return kill(pid_t(argument) ?? 0, SIGTERM) == 0 ? 0 : errno
        case "shell": return execv("/bin/sh", [nil]) == 0 ? 0 : errno
        default: fail("no attempt called \(words[0])")
        }
    }

    /// Queues work that waits longer than a second for one of Dispatch's workers. One worker per processor starts at once; Dispatch's
    /// monitor starts more after it has examined all of them.
    private static func backlog() -> Int32 {
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let (begun, never) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 0..<processors * 4 + 16 {
            DispatchQueue.global().async {
                begun.signal()
                never.wait()
            }
        }
        for _ in 0..<processors + 2 { begun.wait() }
        return 0
    }

    /// Binds a Unix socket to a name: abstract after an @, otherwise a path.
    private static func naming(_ name: String) -> Int32 {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard number >= 0 else { return errno }
        defer { close(number) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = name.hasPrefix("@") ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes.prefix($0.count)) }
        let count = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = withUnsafePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, count) } }
        return result == 0 ? 0 : errno
    }

    private static func opening(_ path: String, _ flags: Int32) -> Int32 {
        let number = open(path, flags | O_CLOEXEC, 0o600)
        guard number >= 0 else { return errno }
        close(number)
        return 0
    }

    /// Reads the first byte of another process's memory, without further privileges.
    private static func memory(of process: String) -> Int32 {
        let file = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return errno }
        var byte: UInt8 = 0
        return read(file, &byte, 1) == 1 ? 0 : errno
    }

    /// Returns whether the kernel reports that a secret of this size is in memory that is locked and excluded from dumps.
    private static func secret(_ bytes: String) -> Int32 {
        SecretBytes(count: Int(bytes) ?? 0, writing: { _ in }).withUnsafeBytes { secret in
            let address = UInt(bitPattern: secret.baseAddress)
            guard let text = SmallFile.text(path: "/proc/self/smaps", max: 16 << 20) else { return errno }
            var isInside = false
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                let ends = words.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
                if ends.count == 2 { isInside = ends[0] <= address && address < ends[1] }
                if isInside, words.first == "VmFlags:" { return words.contains("lo") && words.contains("dd") ? 0 : EINVAL }
            }
            return ENOENT
        }
    }

    /// Starts a thread that works and ends, as the room itself does.
    private static func thread() -> Int32 {
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread { ended.signal() }
        ended.wait()
        return 0
    }
}
