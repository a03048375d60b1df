// The one table from the rooms' refusals to Apple's statuses, for every translator that returns them (Specs/secitem.md, 4).

internal import VaubanRefusal
internal import VaubanUserModel

extension Refusal {
    /// The OSStatus that `SecItem…` returns; a command's exit code is its low byte.
    package var status: Int32 {
        switch reason {
        case .malformed, .badParameter: -50
        case .unknownRequest, .unsupported: -4
        case .noSuchAttribute: -25303
        case .noSuchClass: -25306
        case .duplicateItem: -25299
        case .itemNotFound, .keyDestroyed, .keyUnknown, .rowDamaged: -25300
        case .missingEntitlement: -34018
        case .dataTooLarge: -25302
        case .locked, .beforeFirstUnlock, .interactionNotAllowed, .noPromptAgent: -25308
        case .passcodeNotSet, .authenticationFailed, .lockedOut, .passcodeTooWeak, .passcodeAlreadySet, .biometryNotAvailable,
            .biometryNotEnrolled,
            .biometryLockedOut, .recoveryKeyNotSet, .applicationPasswordMissing, .notAllowedHere:
            -25293
        case .cancelled, .fallbackChosen: -128
        case .userTimedOut: -25293
        case .unavailable, .storageFull, .stateUnreadable, .keysChanged: -25291
        case .storageFailed: -36
        case .internalError: -26276
        case .keyDamaged: -26275
        case .keyOfAnotherDevice: -67712
        }
    }

    /// A sentence for the user, without a period: what happened, and what to do about it.
    package var message: String {
        let sentence: String =
            switch reason {
            case .malformed: "The request was not understood"
            case .unknownRequest: "The service does not know this request; update Vauban"
            case .badParameter: "A parameter is not valid"
            case .noSuchAttribute: "The item's class has no such attribute"
            case .noSuchClass: "Unknown item class"
            case .duplicateItem: "The item already exists"
            case .itemNotFound, .keyDestroyed, .keyUnknown, .rowDamaged: "The item was not found"
            case .missingEntitlement: "This program may not use the access group"
            case .unsupported: "This is not supported here"
            case .dataTooLarge: "The secret is larger than 1 MiB; encrypt the file elsewhere and store its key in the keychain"
            case .notAllowedHere: "This is not allowed here"
            case .locked: "The keychain is locked; run: vauban unlock"
            case .beforeFirstUnlock: "The keychain has not been unlocked since it started; run: vauban unlock"
            case .interactionNotAllowed: "The item needs the user's approval, and this call does not allow a prompt"
            case .noPromptAgent: "The item needs your approval, and nothing can show the prompt; run in another terminal: vauban approve"
            case .passcodeNotSet: "No passcode is set, so you cannot authenticate; run: vauban passcode set"
            case .authenticationFailed: "Authentication failed"
            case .cancelled: "Cancelled"
            case .fallbackChosen: "The user chose the fallback"
            case .lockedOut: "Too many wrong passcodes"
            case .passcodeTooWeak: "The passcode is too weak"
            case .passcodeAlreadySet: "A passcode is set already; run: vauban passcode change"
            case .userTimedOut: "The prompt was not answered in time; try again"
            case .biometryNotAvailable:
                "No fingerprint reader is available; install fprintd, and see whether it knows your reader: fprintd-list $USER"
            case .biometryNotEnrolled: "No fingerprint is enrolled that this item accepts; run: vauban finger enroll"
            case .biometryLockedOut: "Fingerprints are not accepted until the passcode is entered; run: vauban unlock"
            case .recoveryKeyNotSet: "No recovery key exists; to create one, run: vauban passcode recovery-key"
            case .applicationPasswordMissing: "The item needs the application's own password"
            case .keyOfAnotherDevice: "The key was made on another device, or before this keychain was erased; make a new one"
            case .keyDamaged: "The key's bytes were altered; take them from where they were kept whole, or make a new key"
            case .unavailable: "Vauban does not answer"
            case .storageFull: "The disk is full and nothing was changed; free some space, then try again"
            case .storageFailed: "The disk refused to write; nothing was changed"
            case .stateUnreadable: "Stored state cannot be read and was left as it is; see: vauban status"
            case .internalError: "Vauban failed; see its log"
            case .keysChanged: "The keys have changed in the meantime; try again"
            }
        var parts: [String] = []
        if let detail, reason.detailIsComplete {
            parts = [detail]
        } else {
            // What happened, then the details, then what to do.
            let halves = sentence.split(separator: "; ", maxSplits: 1).map(String.init)
            parts = [detail.map { "\(halves[0]): \($0)" } ?? halves[0]]
            if halves.count > 1, detail?.contains("run: ") != true { parts.append(halves[1]) }
        }
        if let secondsToWait, secondsToWait > 0 { parts.append("try again in \(DurationText.wait(secondsToWait))") }
        if let attemptsLeft, attemptsLeft > 0 || (secondsToWait ?? 0) == 0 {
            parts.append("\(attemptsLeft) \(attemptsLeft == 1 ? "attempt" : "attempts") left")
        }
        return parts.joined(separator: "; ")
    }
}
