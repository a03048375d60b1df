import Foundation
import Glibc
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel

/// What the command line keeps of this device's circle: the sealed state, and where the folder is. It is beside the keychain, or in the
/// user's state folder if the service is installed.
final class SyncHome {
    private let path: String
    /// Excludes other runs.
    private let lock: Descriptor

    init(_ service: Service) throws {
        if let home = service.home {
            path = "\(home)/sync"
        } else {
            path = "\(try UserServiceFiles.folder("XDG_STATE_HOME", ".local/state"))/vauban/sync"
        }
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw NewFile.refusal("open \(SafeText.visible(path))", errno) }
        lock = Descriptor(number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            throw Refusal(.unavailable, "Another vauban sync is running; wait until it ends, then try again")
        }
    }

    /// The folder, or what stands for it; nil if none was ever named.
    var folder: (any SyncCarrier)? {
        get throws {
            try BackupFiles.read("\(path)/folder", max: 8192).map { try SyncPlace.remembered(String(decoding: $0, as: UTF8.self)) }
        }
    }

    func keep(_ folder: any SyncCarrier) throws { try BackupFiles.replace("\(path)/folder", with: Array(folder.place.utf8)) }

    /// Whether this device is in a circle or waits to join one.
    func hasCircleOrRequest(_ session: Session) throws(Refusal) -> Bool {
        do throws(Refusal) {
            _ = try session.keychain.circle(.view)
        } catch {
            guard error.reason == .notAllowedHere else { throw error }
            return false
        }
        return true
    }

    func state() throws -> [UInt8]? { try BackupFiles.read(statePath, max: 512 << 20) }

    func keepState(_ sealed: [UInt8]) throws { try BackupFiles.replace(statePath, with: sealed) }

    /// What this device remembers of the access logs of the members.
    func heads() throws -> [UInt8]? { try BackupFiles.read(headsPath, max: LogHeadFile.bytesMax) }

    func keepHeads(_ sealed: [UInt8]) throws { try BackupFiles.replace(headsPath, with: sealed) }

    var headsPath: String { "\(path)/heads" }

    var statePath: String { "\(path)/state" }

    func forget() { for name in ["state", "heads", "folder"] { unlink("\(path)/\(name)") } }

    /// The name of this device for the others.
    static var deviceName: String {
        var name = [CChar](repeating: 0, count: 65)
        guard gethostname(&name, name.count - 1) == 0 else { return "device" }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.isEmpty ? "device" : text
    }
}
