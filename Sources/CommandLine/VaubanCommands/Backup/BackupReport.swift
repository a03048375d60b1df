import VaubanKeychainWire

/// The report of a completed run.
extension BackupRun {
    func printReport() {
        for (_, name, why) in omitted { say("Not in the backup: \(SafeText.visible(name)): \(why.words)") }
        if unreadable > 0 {
            let (are, them) = unreadable == 1 ? ("is", "it") : ("are", "them")
            say(
                "\(count(unreadable, "item")) cannot be read and \(are) not backed up; what the backup already had of \(them) stays. "
                    + "Run: vauban doctor")
        }
        for damage in target.damaged { say("A part of the backup was damaged or missing, and is made again: \(damage.part)") }
        if target.hasNoList { say("The list of the backup was damaged or missing, and was made again from its parts.") }
        if lost > 0 { say("\(count(lost, "item")) of it \(lost == 1 ? "is" : "are") gone from the keychain too, and lost.") }
        if target.unknownFiles > 0 {
            let (stays, it) = target.unknownFiles == 1 ? ("stays", "it") : ("stay", "them")
            say("\(count(target.unknownFiles, "altered file")) in the folder segments \(stays), since some items may be only in \(it).")
        }
        if gone > 0 {
            let (are, them) = gone == 1 ? ("is", "it") : ("are", "them")
            say(
                "\(count(gone, "item")) of the backup \(are) gone from the keychain without having been deleted; the backup keeps \(them). "
                    + "To bring \(them) back: vauban restore \(SafeText.visible(path))")
        }
        if isChanging { say("The keychain kept changing, so the backup may lack the latest changes; run the backup again.") }
        let unchanged = unchanged == 0 ? "" : ", \(unchanged) unchanged"
        let left = omitted.isEmpty ? "" : ", \(omitted.count) not in the backup"
        let (parts, all) = target.checked
        let read = parts < all ? "; \(parts) of \(all) earlier parts read again" : ""
        say("\(count(written, "item")) backed up\(unchanged)\(left). Verified\(read).")
    }
}

extension BackupOmission {
    fileprivate var words: String {
        switch self {
        case .passcodeClass: "it is bound to the passcode of this device"
        case .accessControl: "it has an access control, so it stays on this device"
        case .enclaveKey: "the key is in the enclave of this device, which never releases it"
        case .absent: "it cannot be read; run: vauban doctor"
        }
    }
}
