import EnclaveWire
import VaubanAccessPolicy
import VaubanRefusal
package import VaubanSecretBytes

/// The keys of a backup while one connection uses it. They are zeroed with the last reference.
package final class OpenBackup: Sendable {
    let identifier: [UInt8]
    let use: BackupUse
    /// The epoch of the vault when it opened the backup. A later epoch means that the vault was locked or has other keys.
    let epoch: Int64
    private let contents: HeldKey
    private let classes: [HeldKey]

    init(identifier: [UInt8], use: BackupUse, epoch: Int64, contents: HeldKey, classes: [HeldKey]) {
        self.identifier = identifier
        self.use = use
        self.epoch = epoch
        self.contents = contents
        self.classes = classes
    }

    /// Returns the key of the frames, which the command line receives.
    package func frameKey() -> SecretBytes { KeyWrap.derive(from: contents.key, label: "vauban backup frames v1") }

    /// Returns the key of one item's attributes.
    func attributesKey(_ protection: ProtectionClass, item: [UInt8]) throws(Refusal) -> SecretBytes {
        KeyWrap.derive(from: try key(protection).key, label: "vauban backup attributes v1", context: item)
    }

    /// Wraps an item key. If the item stays on this device, `device` wraps it first.
    func wrap(
        _ key: borrowing SecretBytes, _ protection: ProtectionClass, item: [UInt8], device: borrowing SecretBytes?
    ) throws(Refusal) -> [UInt8] {
        let outer = try self.key(protection)
        do throws(WrapError) {
            switch device {
            case .none: return try KeyWrap.wrap(key, under: outer.key, label: Self.itemLabel, context: identifier + item)
            case .some(let device):
                let inner = SecretBytes(copying: try KeyWrap.wrap(key, under: device, label: Self.itemLabel, context: identifier + item))
                return try KeyWrap.wrap(inner, under: outer.key, label: Self.itemLabel, context: identifier + item)
            }
        } catch {
            throw Refusal(.internalError, "an item key cannot be wrapped")
        }
    }

    /// Unwraps an item key. Returns nil if the item stays on another device or belongs to another user, and throws `rowDamaged` if the key
    /// does not belong to this backup and item.
    func unwrap(
        _ wrapped: [UInt8], _ protection: ProtectionClass, item: [UInt8], device: borrowing SecretBytes?
    ) throws(Refusal) -> SecretBytes? {
        let outer = try key(protection)
        let inner: SecretBytes
        do throws(WrapError) {
            inner = try KeyWrap.unwrap(wrapped, under: outer.key, label: Self.itemLabel, context: identifier + item)
        } catch {
            throw Refusal(.rowDamaged)
        }
        switch device {
        case .none:
            guard inner.count == EnclaveLimits.keyBytes else { throw Refusal(.rowDamaged) }
            return inner
        case .some(let device):
            let bytes = inner.withUnsafeBytes { Array($0) }
            return try? KeyWrap.unwrap(bytes, under: device, label: Self.itemLabel, context: identifier + item)
        }
    }

    private func key(_ protection: ProtectionClass) throws(Refusal) -> HeldKey {
        guard let key = classes.first(where: { $0.purpose == .protection(protection) }) else {
            throw Refusal(.notAllowedHere, "Items of this class are not backed up")
        }
        return key
    }

    private static let itemLabel = "vauban backup item key v1"
}
