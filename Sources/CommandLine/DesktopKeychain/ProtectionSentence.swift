import VaubanAccessPolicy
import VaubanCommands
import VaubanKeychainModel

/// When and how an item can be read, in one sentence for the user.
enum ProtectionSentence {
    static func of(_ record: ItemRecord) -> String {
        let place = record.protection.staysOnDevice ? ", on this device only" : ""
        guard let control = record.accessControl, !control.requirementToDecrypt.isNone || control.needsApplicationPassword else {
            return "\(time(record.protection))\(place)."
        }
        var proofs: [String] = []
        let requirement = control.requirementToDecrypt
        if !requirement.isNone {
            switch (requirement.acceptsFinger, requirement.acceptsPasscode) {
            case (true, true): proofs.append("your fingerprint or passcode")
            case (true, false): proofs.append("your fingerprint")
            case (false, true): proofs.append("your passcode")
            case (false, false): return "Nothing can read it: its access control allows no reading."
            }
        }
        if control.needsApplicationPassword { proofs.append("the password of the program that stored it") }
        return "\(time(record.protection))\(place), each time with \(proofs.joined(separator: " and "))."
    }

    private static func time(_ protection: ProtectionClass) -> String {
        switch protection {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly: "Can be read while the keychain is unlocked"
        case .whenPasscodeSetThisDeviceOnly: "Can be read while the keychain is unlocked, and is erased with the passcode"
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: "Can be read from the first unlock on, also while the keychain is locked"
        case .always, .alwaysThisDeviceOnly: "Can always be read, even before the first unlock"
        }
    }
}
