internal import VaubanAccessPolicy
package import VaubanUserModel

/// The sentences after an attempt, the titles of the buttons, and the outcomes of a prompt.
extension PromptWords {
    package static func attempts(_ count: Int64) -> String {
        count == 1 ? "1 attempt is left before you have to wait." : "\(count) attempts are left before you have to wait."
    }

    package static func wrongPasscode(_ request: PromptRequest) -> String {
        request.operation == .applicationPassword
            ? "That was not the password of this secret." : wrongPasscode(attemptsLeft: request.attemptsLeft)
    }

    package static func wrongPasscode(attemptsLeft: Int64?) -> String {
        ["That was not your passcode.", attemptsLeft.map(attempts)].compactMap(\.self).joined(separator: " ")
    }

    /// Returns what was wrong with the attempt before this form of the same prompt. A passcode uses up an attempt, a fingerprint does not.
    package static func miss(_ request: PromptRequest, after last: PromptRequest) -> String {
        guard request.methods.contains(.passcode) else { return wrongFinger(request.state.fingersLeft) }
        let isPasscode = !last.methods.contains(.finger) || request.attemptsLeft < last.attemptsLeft
        return isPasscode ? wrongPasscode(request) : wrongFinger(request.state.fingersLeft)
    }

    /// Returns what the user should know about the methods before the first attempt; nil for nothing. Attempts may have been used
    /// elsewhere.
    package static func openingNotice(_ request: PromptRequest) -> String? {
        if request.methods.contains(.passcode), request.operation != .applicationPassword, request.attemptsLeft <= 2,
            request.state.secondsToWait == 0
        {
            return attempts(request.attemptsLeft)
        }
        return request.state.finger == .disabled ? disabled(request.state.fingersLeft) : nil
    }

    package static func wrongFinger(_ fingersLeft: Int64) -> String {
        switch fingersLeft {
        case ..<1: "That finger was not recognized."
        case 1: "That finger was not recognized. Try again: after one more miss, fingerprints are switched off."
        default: "That finger was not recognized. Try again."
        }
    }

    package static func hint(_ hint: FingerHint) -> String {
        switch hint {
        // The last three belong to enrollment and never accompany a prompt.
        case .again, .progress, .known, .full: "The finger could not be read. Touch the reader again."
        case .tooShort: "That was too short. Rest your finger on the reader a little longer."
        case .notCentered: "Place the middle of your finger on the reader."
        case .liftAndTouch: "Lift your finger, then touch the reader again."
        case .tooFast: "That was too fast. Move your finger more slowly."
        case .sensorError: "The reader had a fault. Touch it again."
        case .busy: "Another program or user has the fingerprint reader. It will be your turn next."
        }
    }

    /// Returns why only the passcode is left: fingerprints are disabled, or this prompt had too many misses.
    package static func disabled(_ fingersLeft: Int64) -> String {
        fingersLeft > 0
            ? "Fingerprints no longer count for this prompt. Type your passcode."
            : "Fingerprints are switched off until you type your passcode."
    }

    package static let typingIgnored =
        "What you just typed was ignored, since it may have been meant for another window. Read this prompt before you type again."
    package static let unavailable = (subject: "Vauban", statement: "cannot show prompts here")
    package static let lockedOut = (
        subject: "Too many wrong passcodes", statement: "to protect yours from guessing, none is accepted for a while"
    )
    package static let close = "Close"
    package static let readerGone = "The fingerprint reader is gone."
    package static let matched = "Recognized."
    package static let checking = "Checking…"

    /// Returns a wait in minutes and seconds.
    package static func wait(_ seconds: Int64) -> String {
        let two = { (number: Int64) in number < 10 ? "0\(number)" : "\(number)" }
        let clock =
            seconds < 3600 ? "\(seconds / 60):\(two(seconds % 60))" : "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
        return "You can try again in \(clock)."
    }

    package static func confirm(_ request: PromptRequest) -> String {
        switch (request.operation, request.change) {
        case (.unlock, _): "Unlock"
        case (_, .changePasscode): "Change Passcode"
        case (_, .makeRecoveryKey): "Make Recovery Key"
        default: "Allow"
        }
    }

    package static let passcodeEntry = "Vauban passcode"
    package static let currentPasscode = "Current passcode"
    package static let newPasscode = "New passcode"
    package static let repeatedPasscode = "Repeat the new passcode"

    /// The text shown with a recovery key, and the answer by which the user confirms having it.
    package static let recoveryKey = (
        subject: "Your recovery key", statement: "is shown only once",
        advice: """
        Write it on paper and keep it apart from this machine: anyone who has it and this disk can read everything. If you forget your \
        passcode, vauban recover sets a new one with it. Until you confirm, an earlier one works.
        """,
        written: "I have written it down", done: "Done"
    )

    package static func cancel(_ request: PromptRequest) -> String {
        if let title = request.titles.cancel { return title }
        return request.operation == .consent ? "Don’t Allow" : "Cancel"
    }

    package static func fallback(_ request: PromptRequest) -> String {
        request.titles.fallback ?? (request.methods.contains(.passcode) ? "Use Passcode…" : "Use Another Method…")
    }

    package static func choice(_ choice: ConsentChoice, of request: PromptRequest) -> String {
        switch choice {
        case .once: "Only this once"
        case .untilLock: "Until the keychain locks"
        case .always: "Always"
        case .account(let index):
            if let accounts = request.consent?.accounts, accounts.indices.contains(index) {
                PromptWords.account(accounts[index])
            } else {
                "Another account"
            }
        }
    }

    /// Returns a sentence about how a prompt ended.
    package static func outcome(_ outcome: PromptOutcome) -> String {
        switch outcome {
        case .accepted: "Accepted."
        case .failed: "Not accepted."
        case .cancelled: "Cancelled."
        case .expired: "The prompt has expired."
        case .callerGone: "The prompt was withdrawn."
        }
    }
}
