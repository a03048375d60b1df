import ArgumentParser
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

/// The option for whether `vauban sync` shares an item: its attribute synchronizable (`kSecAttrSynchronizable`).
struct SyncChoice: ParsableArguments {
    @Flag(inversion: .prefixedNo, help: "Share the item with your other devices by vauban sync, or no longer.")
    var sync: Bool?

    var isEmpty: Bool { sync == nil }

    /// Rejects options that keep the item on this device together with `--sync`.
    func validate(beside protection: ProtectionOptions) throws {
        guard sync == true, protection.require == .presence || protection.thisDevice == true else { return }
        throw ValidationError("--sync cannot be combined with --require presence or --this-device, which keep an item on this device")
    }

    /// Adds the choice to a new item, whose protection is determined.
    ///
    /// - Throws: `Refusal` with `badParameter` if the protection keeps the item on this device.
    func apply(to record: inout ItemRecord) throws(Refusal) {
        guard let sync else { return }
        record.attributes[.synchronizable] = .number(sync ? 1 : 0)
        try Self.check(record)
    }

    /// Adds the choice to the changes of an item, which have its protection already.
    ///
    /// - Throws: `Refusal` with `badParameter` if the protection keeps the item on this device.
    func apply(to changes: inout ItemChanges, of record: ItemRecord) throws(Refusal) {
        let wanted = sync.map { $0 ? Int64(1) : 0 } ?? record.number(.synchronizable)
        var changed = record
        changed.attributes[.synchronizable] = .number(wanted)
        // A protection class alone removes an access control, which includes one.
        if changes.protection != nil { changed.accessControl = nil }
        changed.accessControl = changes.accessControl ?? changed.accessControl
        changed.protection = changes.accessControl?.protection ?? changes.protection ?? record.protection
        if wanted == record.number(.synchronizable) {
            guard wanted == 0 || changes.accessControl == nil else {
                throw Refusal(
                    .badParameter, "\(record.name) is shared with your other devices, so it needs no approval; give --no-sync too")
            }
            guard wanted == 0 || record.protection.isThisDeviceOnly || !changed.protection.isThisDeviceOnly else {
                throw Refusal(.badParameter, "\(record.name) is shared with your other devices; give --no-sync too")
            }
            return
        }
        changes.attributes[.synchronizable] = .number(wanted)
        try Self.check(changed)
    }

    private static func check(_ record: ItemRecord) throws(Refusal) {
        guard record.number(.synchronizable) != 0 else { return }
        guard record.accessControl == nil else {
            throw Refusal(
                .badParameter,
                "\(record.name) needs your approval for each use, so it stays on this device; to share it, give --require nothing too")
        }
        guard record.protection.isThisDeviceOnly else { return }
        let options = record.protection == .whenPasscodeSetThisDeviceOnly ? "--when unlocked --no-this-device" : "--no-this-device"
        throw Refusal(.badParameter, "\(record.name) stays on this device; to share it, give \(options) too")
    }
}

extension ServiceClient {
    /// Refuses to share a counter-based key of one-time codes. Only the secret shows whether a key is counter-based, so this reads it.
    func checkMayBeShared(_ record: ItemRecord) throws {
        guard record.text(.service).hasPrefix(ImportPlan.codesPrefix),
            let secret = try read(record, reason: "share \(record.name) with your other devices").takeSecret()
        else { return }
        var shared = record
        shared.attributes[.synchronizable] = .number(1)
        try CodeCounter.checkIsLocal(shared, secret)
    }
}
