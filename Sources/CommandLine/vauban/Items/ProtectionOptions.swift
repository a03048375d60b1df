import ArgumentParser
import VaubanAccessPolicy

/// When an item can be read, and what that asks of the person.
struct ProtectionOptions: ParsableArguments {
    enum When: String, ExpressibleByArgument, CaseIterable {
        case unlocked
        case afterFirstUnlock = "after-first-unlock"

        var protection: Protection { self == .unlocked ? .whenUnlocked : .afterFirstUnlock }
    }

    enum Required: String, ExpressibleByArgument, CaseIterable {
        case presence
    }

    @Option(help: "When the item can be read: while unlocked (the default), or from the first unlock on.")
    var when: When?

    @Option(help: "Each reading asks for you.")
    var require: Required?

    @Flag(help: "The item stays on this device: no export takes it along.")
    var thisDevice = false

    var isEmpty: Bool { when == nil && require == nil && !thisDevice }

    /// Class and control of an item: what the options say, and for the rest what it has.
    func applied(to protection: Protection, _ control: AccessControl?) throws(Refusal) -> (Protection, AccessControl?) {
        // An item that stays on this device goes on staying there when only the moment is changed.
        let staysHere = thisDevice || protection.isThisDeviceOnly
        let protection =
            when.map { staysHere ? $0.protection.onThisDevice : $0.protection } ?? (thisDevice ? protection.onThisDevice : protection)
        let flags = require == .presence ? .userPresence : control?.flags
        guard let flags else { return (protection, nil) }
        do throws(AccessControl.Fault) {
            return (protection, try AccessControl(protection: protection, flags: flags))
        } catch {
            throw Refusal(.badParameter, error.rawValue)
        }
    }
}

extension Protection {
    /// The class that opens at the same moments and stays on the device.
    var onThisDevice: Protection {
        switch self {
        case .whenUnlocked: .whenUnlockedThisDeviceOnly
        case .afterFirstUnlock: .afterFirstUnlockThisDeviceOnly
        case .always: .alwaysThisDeviceOnly
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: self
        }
    }

    var isThisDeviceOnly: Bool { onThisDevice == self }
}
