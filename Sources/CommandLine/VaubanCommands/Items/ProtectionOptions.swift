import ArgumentParser
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

/// The options for when an item can be read and what the user must provide for it.
struct ProtectionOptions: ParsableArguments {
    enum When: String, ExpressibleByArgument, CaseIterable {
        case unlocked
        case afterFirstUnlock = "after-first-unlock"

        var protection: ProtectionClass { self == .unlocked ? .whenUnlocked : .afterFirstUnlock }
    }

    enum Required: String, ExpressibleByArgument, CaseIterable {
        case presence
        /// Removes an item's requirement.
        case nothing
    }

    @Option(help: "When the item can be read: unlocked (default), or after-first-unlock.")
    var when: When?

    @Option(help: "Require your approval for each use (presence), or no longer (nothing).")
    var require: Required?

    @Flag(inversion: .prefixedNo, help: "Keep the item on this device: vauban export leaves it out, and it is lost with the disk.")
    var thisDevice: Bool?

    var isEmpty: Bool { when == nil && require == nil && thisDevice == nil }

    /// Returns the protection class and the access control: the values of the options, otherwise those of the item.
    func applied(to protection: ProtectionClass, _ control: AccessControl?) throws(Refusal) -> (ProtectionClass, AccessControl?) {
        // A change of the time alone keeps the restriction to this device.
        let staysHere = thisDevice ?? protection.isThisDeviceOnly
        let moment = when?.protection ?? protection
        guard staysHere || when != nil || protection != .whenPasscodeSetThisDeviceOnly else {
            throw Refusal(.badParameter, "The item exists only while a passcode is set and so stays on this device; give --when too")
        }
        let protection = staysHere ? moment.onThisDevice : moment.anywhere
        let flags: AccessControlFlags? =
            switch require {
            case .presence: .userPresence
            case .nothing: nil
            case nil: control?.flags
            }
        guard let flags else { return (protection, nil) }
        do throws(AccessControlError) {
            return (protection, try AccessControl(protection: protection, flags: flags))
        } catch {
            throw Refusal(.badParameter, error.sentence)
        }
    }
}

extension ProtectionOptions {
    /// Adds the options' values to the changes of an item, and nothing if there are no options.
    func apply(to record: ItemRecord, _ changes: inout ItemChanges) throws(Refusal) {
        guard !isEmpty else { return }
        let (protection, control) = try applied(to: record.protection, record.accessControl)
        // An access control includes its protection class.
        if control != nil { changes.accessControl = control } else { changes.protection = protection }
    }
}

extension ProtectionClass {
    /// The class with the same availability that is not restricted to this device; the class itself if there is none.
    var anywhere: ProtectionClass { ProtectionClass.allCases.first { $0 != self && $0.onThisDevice == self } ?? self }

    /// The class with the same availability that is restricted to this device.
    var onThisDevice: ProtectionClass {
        switch self {
        case .whenUnlocked: .whenUnlockedThisDeviceOnly
        case .afterFirstUnlock: .afterFirstUnlockThisDeviceOnly
        case .always: .alwaysThisDeviceOnly
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: self
        }
    }

    var isThisDeviceOnly: Bool { onThisDevice == self }
}
