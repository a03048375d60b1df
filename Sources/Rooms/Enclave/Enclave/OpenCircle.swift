// The keys of a circle while one connection uses it. They are used for items as those of a backup are (Specs/sync.md, Specs/backup.md).

import EnclaveWire
import VaubanAccessPolicy
import VaubanRefusal
package import VaubanSecretBytes

package final class OpenCircle: Sendable {
    private let newest: OpenBackup
    /// The keys by epoch; the first epoch is 1.
    private let epochs: [OpenBackup]
    private let names: HeldKey?
    private let isCompanion: Bool
    private let state: HeldKey
    /// The purpose of the keys that belong to no class: a class that has no key in a circle.
    private static let purpose = KeyPurpose.protection(.whenPasscodeSetThisDeviceOnly)

    init(_ body: CircleBody, _ secrets: CircleSecrets, circle: [UInt8], at epoch: Int64) throws(Refusal) {
        guard secrets.epochs > 0, secrets.epochs == Int(body.epoch) else { throw Refusal(.internalError, "the circle has no key") }
        isCompanion = body.isCompanion
        let place = isCompanion ? circle + body.me.device : circle
        newest = Self.open(secrets.key(of: secrets.epochs), in: place, .backUp, at: epoch)
        epochs = (1...secrets.epochs).map { Self.open(secrets.key(of: $0), in: place, .restore, at: epoch) }
        names =
            isCompanion ? nil : Self.held(KeyWrap.derive(from: secrets.key(of: 1), label: "vauban sync names v1", context: circle), circle)
        state = Self.held(secrets.stateKey(), circle)
    }

    /// Returns the keys that are derived from a circle key or, for one companion, from a companion key.
    /// - Parameter place: The circle; for a companion, with its device.
    static func open(_ key: borrowing SecretBytes, in place: [UInt8], _ use: BackupUse, at epoch: Int64) -> OpenBackup {
        let contents = held(KeyWrap.derive(from: key, label: "vauban sync contents v1", context: place), place)
        var classes: [HeldKey] = []
        // A class whose items stay on a device has no key, so the enclave cannot seal such an item for other devices.
        for protection in ProtectionClass.allCases where !protection.staysOnDevice {
            let derived = KeyWrap.derive(from: key, label: "vauban sync class v1", context: place + [UInt8(protection.number)])
            classes.append(HeldKey(purpose: .protection(protection), generation: place, key: derived))
        }
        return OpenBackup(identifier: place, use: use, epoch: epoch, contents: contents, classes: classes)
    }

    private static func held(_ key: consuming SecretBytes, _ generation: [UInt8]) -> HeldKey {
        HeldKey(purpose: purpose, generation: generation, key: key)
    }

    /// Returns the keys for the command line: those of the files of every epoch, and that of the state that this device stores.
    package func fileKeys() -> SecretBytes { Self.joined(epochs.map { Self.held($0.frameKey(), $0.identifier) } + [state]) }

    private static func joined(_ keys: [HeldKey]) -> SecretBytes {
        SecretBytes(count: keys.count * EnclaveLimits.keyBytes) { target in
            for (index, held) in keys.enumerated() {
                let part = UnsafeMutableRawBufferPointer(rebasing: target[(index * EnclaveLimits.keyBytes)...])
                held.key.withUnsafeBytes { part.copyMemory(from: $0) }
            }
        }
    }

    /// The keys of the files for one companion, which a member writes and reads.
    package final class CompanionFiles: Sendable {
        private let epochs: [OpenBackup]

        init(_ epochs: [OpenBackup]) { self.epochs = epochs }

        package func fileKeys() -> SecretBytes { OpenCircle.joined(epochs.map { OpenCircle.held($0.frameKey(), $0.identifier) }) }
    }

    /// Nil on a companion.
    func nameKey() -> SecretBytes? {
        guard let names else { return nil }
        return names.key.duplicate()
    }

    /// Throws on a companion, which writes nothing.
    func sending() throws(Refusal) -> OpenBackup {
        guard !isCompanion else { throw CircleMembership.companionChangesNothing }
        return newest
    }

    func receiving(_ epoch: Int64) throws(Refusal) -> OpenBackup {
        guard epoch >= 1, epoch <= epochs.count else { throw Refusal(.badParameter, "The circle has no such key") }
        return epochs[Int(epoch) - 1]
    }
}
