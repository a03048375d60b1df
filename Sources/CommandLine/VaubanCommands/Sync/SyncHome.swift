import Foundation
import Glibc
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel

/// What this device keeps of its circle: the keybag, which only the enclave opens, the sealed state, and where the folder is. It is beside
/// the keychain, or in the user's state folder if the service is installed.
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
        guard number >= 0 else { throw BackupOutput.refusal("open \(SafeText.visible(path))", errno) }
        lock = Descriptor(number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            throw Refusal(.unavailable, "Another vauban sync runs; wait for its end, then try again")
        }
    }

    var keybag: [UInt8]? {
        get throws { try BackupFiles.read("\(path)/circle", max: CircleRequest.keybagBytesMax) }
    }

    func keep(_ keybag: [UInt8]?) throws {
        guard let keybag else { throw Refusal(.internalError, "the enclave returned no keys of the circle") }
        try BackupFiles.replace("\(path)/circle", with: keybag)
    }

    var folder: SyncFolder {
        get throws {
            guard let bytes = try BackupFiles.read("\(path)/folder", max: 8192) else {
                throw Refusal(.notAllowedHere, "This device is in no circle; run: vauban sync new FOLDER, or vauban sync join FOLDER")
            }
            return SyncFolder(path: String(decoding: bytes, as: UTF8.self))
        }
    }

    func keep(_ folder: SyncFolder) throws { try BackupFiles.replace("\(path)/folder", with: Array(folder.path.utf8)) }

    func state() throws -> [UInt8]? { try BackupFiles.read("\(path)/state", max: 512 << 20) }

    func keepState(_ sealed: [UInt8]) throws { try BackupFiles.replace("\(path)/state", with: sealed) }

    var statePath: String { "\(path)/state" }

    /// Forgets the circle: without its keybag nothing of it opens here any more.
    func forget() { for name in ["circle", "state", "folder"] { unlink("\(path)/\(name)") } }

    /// The name of this device for the others.
    static var deviceName: String {
        var name = [CChar](repeating: 0, count: 65)
        guard gethostname(&name, name.count - 1) == 0 else { return "device" }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.isEmpty ? "device" : text
    }
}
