import CVaubanProbe
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost

/// A folder that only root can change, removed with its owner. Only root can create one.
final class RootsFolder: Sendable {
    let path: String

    init(in above: String = "/var/lib") throws {
        guard geteuid() == 0 else { try Test.cancel("only root can make a folder of root's") }
        // If every folder belongs to another user, or the root is mounted nosuid, no program counts as installed.
        guard InstalledFile(path: URL(fileURLWithPath: "/bin/cat").resolvingSymlinksInPath().path) != nil else {
            try Test.cancel("no program counts as installed on this machine")
        }
        var template = Array("\(above)/vauban-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("make a folder", code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        chmod(path, 0o755)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Copies a file into the folder and returns its path.
    func copy(_ file: String, as name: String) throws -> String {
        let copy = "\(path)/\(name)"
        try ProgramFile.copy(file, to: copy)
        return copy
    }
}

/// Mounts that only one thread sees, and work done under them.
enum OwnMounts {
    static let nosuid = 2
    static let bind = 4096

    /// Mounts and then runs the step; cancels the test if this machine does not permit the mount.
    static func with<Value: Sendable>(
        _ source: String, on target: String, type: String, flags: Int, _ step: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        let done = try Background<Value?> {
            // A mount namespace of this thread (CLONE_NEWNS), from which nothing propagates (MS_REC | MS_PRIVATE). If the root is not a
            // mount point, its propagation cannot be changed, and need not be.
            guard call("unshare", 0x20000) == 0, [0, -Int(EINVAL)].contains(mount("none", at: "/", type: nil, flags: 16384 | 1 << 18)),
                mount(source, at: target, type: type, flags: flags) == 0
            else { return nil }
            return try step()
        }.value()
        // A test can be cancelled only from its own task.
        guard let done else { try Test.cancel("it cannot mount here") }
        return done
    }

    private static func mount(_ source: String, at target: String, type: String?, flags: Int) -> Int {
        source.withCString { source in
            target.withCString { target in
                func done(_ type: UnsafePointer<CChar>?) -> Int {
                    call("mount", Int(bitPattern: source), Int(bitPattern: target), Int(bitPattern: type), flags)
                }
                guard let type else { return done(nil) }
                return type.withCString(done)
            }
        }
    }

    /// Performs a system call unchanged.
    static func call(_ name: String, _ arguments: Int...) -> Int {
        vauban_probe_call(name, arguments + Array(repeating: 0, count: 6 - arguments.count))
    }
}
