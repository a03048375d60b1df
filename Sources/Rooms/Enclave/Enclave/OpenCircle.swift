// The keys of a circle while one connection uses it. They do for items what those of a backup do (Specs/sync.md, backup.md).

import EnclaveWire
import VaubanAccessPolicy
import VaubanRefusal
package import VaubanSecretBytes

package final class OpenCircle: Sendable {
    private let newest: OpenBackup
    /// By epoch, the first being 1.
    private let epochs: [OpenBackup]
    private let names: HeldKey
    private let state: HeldKey
    /// Of the keys that belong to no class: a class that has no key in a circle.
    private static let purpose = KeyPurpose.protection(.whenPasscodeSetThisDeviceOnly)

    init(_ body: CircleBody, _ secrets: CircleSecrets, circle: [UInt8], at epoch: Int64) throws(Refusal) {
        func open(_ number: Int, _ use: BackupUse) -> OpenBackup {
            let key = secrets.key(of: number)
            let contents = HeldKey(
                purpose: Self.purpose, generation: circle,
                key: KeyWrap.derive(from: key, label: "vauban sync contents v1", context: circle))
            // There is no key for a class whose items stay on a device, so the enclave seals none of them for others.
            let classes = Protection.allCases.filter { !$0.staysOnDevice }.map { protection in
                HeldKey(
                    purpose: .protection(protection), generation: circle,
                    key: KeyWrap.derive(from: key, label: "vauban sync class v1", context: circle + [UInt8(protection.number)]))
            }
            return OpenBackup(identifier: circle, use: use, epoch: epoch, contents: contents, classes: classes)
        }
        guard secrets.epochs > 0, secrets.epochs == Int(body.epoch) else { throw Refusal(.internalError, "the circle has no key") }
        newest = open(secrets.epochs, .backUp)
        epochs = (1...secrets.epochs).map { open($0, .restore) }
        names = HeldKey(
            purpose: Self.purpose, generation: circle,
            key: KeyWrap.derive(from: secrets.key(of: 1), label: "vauban sync names v1", context: circle))
        state = HeldKey(
            purpose: Self.purpose, generation: circle, key: secrets.stateKey())
    }

    /// Returns the keys for the command line: of the files of every epoch, and of the state that this device keeps.
    package func fileKeys() -> SecretBytes {
        let keys = epochs.map { HeldKey(purpose: names.purpose, generation: names.generation, key: $0.frameKey()) } + [state]
        return SecretBytes(count: keys.count * EnclaveLimits.keyBytes) { target in
            for (index, held) in keys.enumerated() {
                let part = UnsafeMutableRawBufferPointer(rebasing: target[(index * EnclaveLimits.keyBytes)...])
                held.key.withUnsafeBytes { part.copyMemory(from: $0) }
            }
        }
    }

    func nameKey() -> SecretBytes { names.key.duplicate() }

    func sending() -> OpenBackup { newest }

    func receiving(_ epoch: Int64) throws(Refusal) -> OpenBackup {
        guard epoch >= 1, epoch <= epochs.count else { throw Refusal(.badParameter, "the circle has no such key") }
        return epochs[Int(epoch) - 1]
    }
}
