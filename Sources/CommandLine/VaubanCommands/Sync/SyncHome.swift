import Foundation
import Glibc
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel

/// What the command line keeps of this device's circle: the sealed state, and where the folder is. It is stored beside the keychain, or in
/// the user's state folder if the service is installed.
final class SyncHome {
    private let path: String
    /// Excludes other runs.
    private let lock: Descriptor

    /// Waits a limited time for another run to end; with `waitsForever`, as long as it takes.
    init(_ service: Service, waitsForever: Bool = false) throws {
        path = try Self.path(of: service)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw NewFile.refusal("open \(SafeText.visible(path))", errno) }
        lock = Descriptor(number)
        guard Self.isTaken(lock, waitsForever: waitsForever) else {
            throw Refusal(.unavailable, "Another vauban sync is running; wait until it ends, then try again")
        }
    }

    private static func path(of service: Service) throws(Refusal) -> String {
        if let home = service.home { return "\(home)/sync" }
        return "\(try UserServiceFiles.folder("XDG_STATE_HOME", ".local/state"))/vauban/sync"
    }

    /// Lets other runs start, until `take`.
    func release() { flock(lock.number, LOCK_UN) }

    /// Excludes other runs again, and waits for a current one as long as it takes. Returns false if the lock cannot be taken.
    func take() -> Bool { Self.takes(lock) }

    private static func isTaken(_ lock: Descriptor, waitsForever: Bool) -> Bool {
        if flock(lock.number, LOCK_EX | LOCK_NB) == 0 { return true }
        if waitsForever { return takes(lock) }
        let taken = DispatchSemaphore(value: 0)
        // flock has no deadline. A thread that is still waiting ends with this process.
        do { try HostThread.start { if Self.takes(lock) { taken.signal() } } } catch { return false }
        return taken.wait(timeout: .now() + .seconds(waitSeconds)) == .success
    }

    private static func takes(_ lock: Descriptor) -> Bool {
        while flock(lock.number, LOCK_EX) != 0 { guard errno == EINTR else { return false } }
        return true
    }

    /// Longer than a run of vauban sync --follow takes.
    private static let waitSeconds = 30

    /// The folder or etcd account; nil if none was ever named.
    var folder: (any SyncCarrier)? { get throws { try place.map { try SyncPlace.remembered($0) } } }

    /// The remembered place.
    var place: String? {
        get throws { try BackupFiles.read("\(path)/folder", max: 8192).map { String(decoding: $0, as: UTF8.self) } }
    }

    func keep(_ folder: any SyncCarrier) throws { try BackupFiles.replace("\(path)/folder", with: Array(folder.place.utf8)) }

    /// The carrier's revision in the last run that followed the circle; nil if the carrier has none.
    var revision: CarrierRevision? {
        get throws(Refusal) {
            try BackupFiles.read(revisionPath, max: 100).flatMap { CarrierRevision(String(decoding: $0, as: UTF8.self)) }
        }
    }

    func keepRevision(_ revision: CarrierRevision) throws(Refusal) {
        try BackupFiles.replace(revisionPath, with: Array(revision.text.utf8))
    }

    private var revisionPath: String { "\(path)/carrier" }

    /// Returns whether this device is in a circle or waits to join one.
    func hasCircleOrRequest(_ client: ServiceClient) throws(Refusal) -> Bool {
        do throws(Refusal) {
            _ = try client.keychain.circle(.view)
        } catch {
            guard error.reason == .notAllowedHere else { throw error }
            return false
        }
        return true
    }

    func state() throws -> [UInt8]? { try BackupFiles.read(statePath, max: 512 << 20) }

    func keepState(_ sealed: [UInt8]) throws { try BackupFiles.replace(statePath, with: sealed) }

    /// Identifies this version of the state file, which each run replaces; nil if there is none.
    var stateVersion: [UInt64]? {
        var status = stat()
        guard stat(statePath, &status) == 0 else { return nil }
        return [UInt64(status.st_ino), UInt64(status.st_mtim.tv_sec), UInt64(status.st_mtim.tv_nsec)]
    }

    /// What this device remembers of the access logs of the members.
    func heads() throws -> [UInt8]? { try BackupFiles.read(headsPath, max: LogHeadFile.bytesMax) }

    func keepHeads(_ sealed: [UInt8]) throws { try BackupFiles.replace(headsPath, with: sealed) }

    var headsPath: String { "\(path)/heads" }

    /// When this device last synchronized completely.
    var lastSync: LastSync? { LastSync.read(in: path) }

    /// Records that this device has synchronized completely, unless it did so within this many seconds.
    func noteComplete(_ folder: any SyncCarrier, notWithin interval: TimeInterval = 0) {
        LastSync.record(folder.place, in: path, notWithin: interval)
    }

    /// Returns whether this device is in a circle, without waiting for another run.
    static func isInCircle(_ client: ServiceClient) -> Bool {
        do throws(Refusal) {
            let view = try client.keychain.circle(.view).reply.view
            return view.circle != nil && view.sponsor == nil
        } catch {
            // A locked keychain does not say. The state stays until the device leaves.
            guard error.reason != .notAllowedHere, let path = try? path(of: client.service) else { return false }
            return access("\(path)/state", F_OK) == 0
        }
    }

    /// When this device last synchronized completely, without waiting for another run.
    static func lastSync(of service: Service) -> LastSync? { (try? path(of: service)).flatMap { LastSync.read(in: $0) } }

    /// Returns whether the files of all devices removed up to this epoch have been removed.
    func hasCleared(_ circle: CircleView) -> Bool {
        let read = try? BackupFiles.read(clearedPath, max: 1024)
        return read == Self.cleared(circle)
    }

    func noteCleared(_ circle: CircleView) throws(Refusal) { try BackupFiles.replace(clearedPath, with: Self.cleared(circle)) }

    private static func cleared(_ circle: CircleView) -> [UInt8] {
        Array("\(StoredBackupFolder.hex(circle.circle ?? [])) \(circle.epoch)\n".utf8)
    }

    private var clearedPath: String { "\(path)/cleared" }

    var statePath: String { "\(path)/state" }

    func forget() { for name in ["state", "heads", "cleared", "carrier", "folder", LastSync.name] { unlink("\(path)/\(name)") } }

    /// The name of this device, as other devices see it.
    static var deviceName: String {
        var name = [CChar](repeating: 0, count: 65)
        guard gethostname(&name, name.count - 1) == 0 else { return "device" }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.isEmpty ? "device" : text
    }
}
