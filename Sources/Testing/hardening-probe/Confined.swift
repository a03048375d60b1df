import CVaubanProbe
import Foundation
import Glibc
import VaubanLinuxHost
import VaubanRoomHardening

/// Attempts from within a room's walls.
struct Confined {
    private let profile: RoomProfile
    private let state: String
    private let without: Set<HardeningFeature>
    private let attempts: [String]

    init(_ words: inout [String]) {
        guard words.count >= 2, let profile = RoomProfile.all.first(where: { $0.name == words[0] }) else { fail("confined ROOM STATE ATTEMPT…") }
        self.profile = profile
        state = words[1]
        words.removeFirst(2)
        if words.first == "--without", words.count > 1 {
            without = Set(words[1].split(separator: ",").compactMap { HardeningFeature(rawValue: String($0)) })
            words.removeFirst(2)
        } else {
            without = []
        }
        attempts = words
    }

    func run() {
        for attempt in attempts {
            let child = vauban_probe_fork()
            if child == 0 { exit(inside(attempt)) }
            let ending = vauban_probe_wait(child)
            switch ending {
            case 0: say("\(attempt) done")
            case 1000...: say("\(attempt) killed \(ending - 1000)")
            default: say("\(attempt) refused \(ending)")
            }
        }
    }

    /// The errno of the attempt, or 0. 255 is a fault of the probe's own.
    private func inside(_ attempt: String) -> Int32 {
        do {
            let folder = profile.holdsSecrets ? try PrivateFolder(path: state, creating: false) : nil
            let missing = try RoomHardening(profile, without: without).confine(state: folder)
            guard missing.count == without.filter({ profile.files != nil || $0 != .landlock }).filter({ profile.holdsSecrets || $0 == .landlock || $0 == .seccomp }).count
            else { fail("missing: \(missing)") }
            return Self.perform(attempt.split(separator: ":", omittingEmptySubsequences: false).map(String.init))
        } catch {
            FileHandle.standardError.write(Data("hardening-probe: \(error)\n".utf8))
            return 255
        }
    }

    private static func perform(_ words: [String]) -> Int32 {
        let argument = words.count > 1 ? words[1] : ""
        switch words[0] {
        case "call":
            var numbers = words.dropFirst(2).map { Int($0) ?? 0 }
            while numbers.count < 6 { numbers.append(0) }
            let result = vauban_probe_call(argument, numbers)
            // A name that is not known here cannot be tried.
            return result < -255 ? 254 : result < 0 ? Int32(-result) : 0
        case "read": return opening(argument, O_RDONLY)
        case "change": return opening(argument, O_WRONLY)
        case "empty": return opening(argument, O_RDONLY | O_TRUNC)
        case "create": return opening(argument, O_WRONLY | O_CREAT)
        case "list": return opening(argument, O_RDONLY | O_DIRECTORY)
        case "remove": return unlink(argument) == 0 ? 0 : errno
        case "thread": return thread()
        case "code":
            let page = mmap(nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | 0x20, -1, 0)
            return page == UnsafeMutableRawPointer(bitPattern: -1) ? errno : 0
        case "abort": abort()
        case "network": return -vauban_probe_dial_network()
        case "abstract": return -vauban_probe_dial_abstract(argument)
        case "signal": return kill(pid_t(argument) ?? 0, 0) == 0 ? 0 : errno
        case "end": return kill(pid_t(argument) ?? 0, SIGTERM) == 0 ? 0 : errno
        case "shell": return execv("/bin/sh", [nil]) == 0 ? 0 : errno
        default: fail("no attempt called \(words[0])")
        }
    }

    private static func opening(_ path: String, _ flags: Int32) -> Int32 {
        let number = open(path, flags | O_CLOEXEC, 0o600)
        guard number >= 0 else { return errno }
        close(number)
        return 0
    }

    /// The room's own way of working: a thread is made, does something, and ends.
    private static func thread() -> Int32 {
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread { ended.signal() }
        ended.wait()
        return 0
    }
}
