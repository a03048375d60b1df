import Enclave
import EnclaveSoftware
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// The software backend's files, on a real file system.
@Suite final class DeviceFileTests {
    private let path: String
    private let folder: PrivateFolder

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-enclave-\(UUID().uuidString)").path
        folder = try PrivateFolder(path: path, creating: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private var secretPath: String { path + "/device-secret" }
    private func content(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
    private func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

    private func mode(_ path: String) -> mode_t {
        var information = stat()
        return lstat(path, &information) == 0 ? information.st_mode & 0o7777 : 0
    }

    // MARK: The device secret

    @Test("The device secret is created at its first use, for its owner alone")
    func deviceSecretIsCreatedOnFirstUseForItsOwnerOnly() throws {
        let device = try DeviceSecret(in: folder)
        #expect(mode(secretPath) == 0o600)
        let file = try content(secretPath)
        #expect(file.count == 23 + 32 && file.starts(with: Array("vauban device secret 1\n".utf8)))
        #expect(try DeviceSecret(in: folder).deviceIdentifier == device.deviceIdentifier)
        #expect(try content(secretPath) == file)
        #expect(!FileManager.default.fileExists(atPath: secretPath + ".new"))
    }

    @Test("Every device has its own secret") func everyDeviceHasItsOwnSecret() throws {
        let other = try folder.subfolder("other", creating: true)
        #expect(try DeviceSecret(in: folder).deviceIdentifier != DeviceSecret(in: other).deviceIdentifier)
    }

    @Test("A damaged device secret is refused and left in place") func aDamagedSecretIsRefusedAndLeftAsItIs() throws {
        _ = try DeviceSecret(in: folder)
        let good = try content(secretPath)
        let bad = [[], Array(good.dropLast()), good + [0], Array(good.dropFirst()), [UInt8](repeating: 0, count: good.count)]
        for bytes in bad {
            try write(bytes, to: secretPath)
            #expect(throws: BackendError.self) { try DeviceSecret(in: folder) }
            #expect(try content(secretPath) == bytes)
        }
    }

    @Test("A missing device secret is not replaced while state exists") func missingSecretIsNotReplacedIfUsersHaveState() throws {
        _ = try DeviceSecret(in: folder)
        try FileStateStore(in: folder).replace(.keybag, of: 1000, with: [1])
        try FileManager.default.removeItem(atPath: secretPath)
        let fault = #expect(throws: BackendError.self) { try DeviceSecret(in: folder) }
        #expect(fault?.description.contains(secretPath) == true)
        #expect(!FileManager.default.fileExists(atPath: secretPath))
    }

    @Test("A symbolic link is not followed") func aLinkIsNotFollowed() throws {
        let other = try folder.subfolder("other", creating: true)
        _ = try DeviceSecret(in: other)
        try FileManager.default.createSymbolicLink(atPath: secretPath, withDestinationPath: other.path + "/device-secret")
        #expect(throws: BackendError.self) { try DeviceSecret(in: folder) }
    }

    // MARK: Users' files

    @Test("State files are in private folders per user") func eachUserHasAPrivateFolder() throws {
        let store = FileStateStore(in: folder)
        #expect(try store.read(.keybag, of: 1000, max: 100) == nil)
        #expect(!FileManager.default.fileExists(atPath: path + "/people"))
        try store.replace(.keybag, of: 1000, with: [1, 2])
        try store.replace(.attempts, of: 1001, with: [3])
        #expect(try store.read(.keybag, of: 1000, max: 100) == [1, 2] && store.read(.attempts, of: 1001, max: 100) == [3])
        #expect(try store.read(.attempts, of: 1000, max: 100) == nil)
        #expect(mode(path + "/people") == 0o700 && mode(path + "/people/1000") == 0o700 && mode(path + "/people/1000/keybag") == 0o600)
    }

    @Test("A quarantined file is numbered and listed") func quarantinedFileIsNumberedAndListed() throws {
        let store = FileStateStore(in: folder)
        for number in 1...3 {
            try store.replace(.keybag, of: 1000, with: [UInt8(number)])
            #expect(try store.quarantine(.keybag, of: 1000) == "keybag.quarantined-\(number)")
            #expect(try store.read(.keybag, of: 1000, max: 100) == nil)
            #expect(try content(path + "/people/1000/keybag.quarantined-\(number)") == [UInt8(number)])
        }
        #expect(try store.quarantined(.keybag, of: 1000) == (1...3).map { "keybag.quarantined-\($0)" })
        #expect(try store.quarantined(.keybag, of: 1001) == [])
        #expect(throws: StateError.self) { try store.quarantine(.keybag, of: 1001) }
    }

    @Test("Only a small regular file of the right owner is read") func unexpectedFilesAreNotRead() throws {
        let store = FileStateStore(in: folder)
        try store.replace(.keybag, of: 1000, with: [UInt8](repeating: 0, count: 101))
        #expect(throws: StateError.self) { try store.read(.keybag, of: 1000, max: 100) }
        let place = path + "/people/1000/attempts"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        #expect(throws: StateError.self) { try store.read(.attempts, of: 1000, max: 100) }
        try FileManager.default.removeItem(atPath: place)
        try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: path + "/people/1000/keybag")
        #expect(throws: StateError.self) { try store.read(.attempts, of: 1000, max: 200) }
    }

    /// The whole enclave over real files: a damaged keybag is set aside there as in memory.
    @Test("A vault on files quarantines a damaged keybag") func damagedKeybagOnDiskIsQuarantined() throws {
        let host = EnclaveHost(
            backend: try DeviceSecret(in: folder), store: FileStateStore(in: folder), clock: SystemClock(),
            stretcher: PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)))
        _ = try Vault(user: 1000, host: host).setPasscode(secret(Workbench.passcode))
        try Vault(user: 1000, host: host).unlock(secret(Workbench.passcode))
        let keybag = path + "/people/1000/keybag"
        let good = try content(keybag)
        try write(Array(good.dropLast()), to: keybag)
        for _ in 1...2 {
            #expect(refusal { _ = try Vault(user: 1000, host: host).lease() }?.reason == .stateUnreadable)
            #expect(!FileManager.default.fileExists(atPath: keybag))
            #expect(try content(keybag + ".quarantined-1") == Array(good.dropLast()))
        }
    }
}
