import VaubanAccessPolicy
import VaubanPlainText
import VaubanUserModel

/// The sheet's sentences. The action comes from the enclave and the caller's name from the system; the caller's own text is kept apart and
/// quoted.
enum PromptWords {
    static let nameMax = 60
    static let pathMax = 160
    private static let textMax = 240
    private static let reasonMax = 200

    /// The program's name: from the desktop if it has one, else its file's name.
    static func name(of caller: CallerName, _ entry: ApplicationDirectory.Entry?) -> String {
        if let entry { return entry.name }
        guard let path = caller.path else { return "An unknown program" }
        return PlainLine.path(PathBytes.name(of: path), charactersMax: nameMax)
    }

    /// The program's path, which distinguishes programs of the same name.
    static func origin(of caller: CallerName) -> String {
        let process = "process \(caller.pid)"
        if let confinement = caller.confinement {
            let kind = confinement.kind == .flatpak ? "Flatpak" : "Snap"
            return "\(kind) \(PlainLine.path(confinement.name, charactersMax: nameMax)) · \(process)"
        }
        guard let path = caller.path else { return process }
        return "\(PlainLine.path(path, charactersMax: pathMax)) · \(process)"
    }

    static func wish(_ question: PromptQuestion) -> String {
        guard let consent = question.consent else {
            switch question.operation {
            case .readItem: return "wants to read a secret that is given out only with your approval"
            case .evaluatePolicy: return "wants to make sure that it is you"
            case .unlock: return "wants to unlock your keychain"
            case .consent: return "wants to get access"
            case .sign: return "wants to sign with a key that it keeps in your keychain"
            case .decrypt: return "wants to decrypt with a key that it keeps in your keychain"
            case .applicationPassword: return "wants to open a secret that has its own password"
            case .exchangeKeys: return "wants to agree on a secret with a key that it keeps in your keychain"
            }
        }
        switch consent.purpose {
        case .readItem: return "wants to read a secret that another program keeps"
        case .changeItem: return "wants to change a secret that another program keeps"
        case .deleteItem: return "wants to delete a secret that another program keeps"
        case .acceptBuild: return "wants to be accepted as a new version of a program that keeps secrets here"
        case .listOwners: return "wants to see what every program keeps, without the secrets themselves"
        case .changePermission: return "wants to change which programs may read which secrets"
        case .moveItems: return "wants to give secrets to another owner"
        case .restore: return "wants to replace your damaged keychain with an earlier copy; what was deleted since comes back"
        }
    }

    static func reason(_ question: PromptQuestion) -> String? {
        question.reason.map { PlainLine.of($0, charactersMax: reasonMax) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    static func particulars(_ consent: Consent) -> [SheetView.Particular] {
        let particulars = [
            ("Secret", consent.item.map { PlainLine.name($0, charactersMax: textMax) }),
            ("Kept by", consent.owner.map { PlainLine.path($0, charactersMax: textMax) }),
            ("Program", consent.program.map { PlainLine.path($0, charactersMax: textMax) }),
        ]
        return particulars.compactMap { label, text in
            guard let text, !text.isEmpty else { return nil }
            return SheetView.Particular(label: label, text: text)
        }
    }

    /// What the user should know about a caller whose name says little.
    static func cautions(_ caller: CallerName) -> [SheetView.Caution] {
        let chain = caller.startedBy.map { PlainLine.path($0, charactersMax: pathMax) }.joined(separator: ", started by ")
        switch caller.doubt {
        case .interpreter where chain.isEmpty:
            return [.init(text: "It runs scripts and commands: which one asks is unknown.", isWarning: false)]
        case .interpreter:
            return [.init(text: "Started by \(chain). Which script or command asks is unknown.", isWarning: false)]
        case .unseen:
            return [
                .init(
                    text: chain.isEmpty ? "It could not be inspected." : "Started by \(chain). It could not be inspected.", isWarning: false
                )
            ]
        default: break
        }
        var cautions: [SheetView.Caution] = chain.isEmpty ? [] : [.init(text: "Started by \(chain)", isWarning: false)]
        switch caller.doubt {
        case .traced: cautions.append(.init(text: "Another program watches and controls it.", isWarning: true))
        case .orphan:
            cautions.append(.init(text: "Which program started it is unknown: that program ended or detached from it.", isWarning: false))
        case .foreignCode: cautions.append(.init(text: "It may run code that the administrator did not install.", isWarning: true))
        case .interpreter, .unseen, nil: break
        }
        return cautions
    }

    static func instruction(_ question: PromptQuestion, showsEntry: Bool) -> String {
        if question.operation == .applicationPassword { return "Type the password of this secret, not your Vauban passcode." }
        return switch (question.methods.contains(.finger), showsEntry) {
        case (true, true): "Touch the fingerprint reader, or type your Vauban passcode."
        case (true, false): "Touch the fingerprint reader to allow it."
        default: "Type your Vauban passcode to allow it."
        }
    }

    static func tries(_ count: Int64) -> String {
        count == 1 ? "1 attempt is left before you have to wait." : "\(count) attempts are left before you have to wait."
    }

    static func wrongPasscode(_ question: PromptQuestion) -> String {
        question.operation == .applicationPassword
            ? "That was not the password of this secret." : "That was not your passcode. \(tries(question.attemptsLeft))"
    }

    static func wrongFinger(_ fingersLeft: Int64) -> String {
        switch fingersLeft {
        case ..<1: "That finger was not recognized."
        case 1: "That finger was not recognized. Try again: after one more miss, fingerprints are switched off."
        default: "That finger was not recognized. Try again."
        }
    }

    static func hint(_ hint: FingerHint) -> String {
        switch hint {
        // The last three belong to enrollment and never accompany a prompt.
        case .again, .progress, .known, .full: "The finger could not be read. Touch the reader again."
        case .tooShort: "That was too short. Rest your finger on the reader a little longer."
        case .notCentered: "Place the middle of your finger on the reader."
        case .liftAndTouch: "Lift your finger, then touch the reader again."
        case .tooFast: "That was too fast. Move your finger more slowly."
        case .sensorError: "The reader had a fault. Touch it again."
        case .busy: "Another program uses the fingerprint reader. It will be your turn next."
        }
    }

    /// Why only the passcode is left: fingerprints are switched off, or this prompt had too many misses.
    static func disabled(_ fingersLeft: Int64) -> String {
        fingersLeft > 0
            ? "Fingerprints no longer count for this prompt. Type your passcode."
            : "Fingerprints are switched off until you type your passcode."
    }

    static let readerGone = "The fingerprint reader is gone."
    static let matched = "Recognized."
    static let checking = "Checking…"

    /// A wait as minutes and seconds.
    static func wait(_ seconds: Int64) -> String {
        let two = { (number: Int64) in number < 10 ? "0\(number)" : "\(number)" }
        let clock =
            seconds < 3600 ? "\(seconds / 60):\(two(seconds % 60))" : "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
        return "You can try again in \(clock)."
    }

    static func confirm(_ question: PromptQuestion) -> String { question.operation == .unlock ? "Unlock" : "Allow" }

    static func cancel(_ question: PromptQuestion) -> String {
        if let title = question.titles.cancel { return title }
        return question.operation == .consent ? "Don’t Allow" : "Cancel"
    }

    static func fallback(_ question: PromptQuestion) -> String {
        question.titles.fallback ?? (question.methods.contains(.passcode) ? "Use Passcode…" : "Use Another Method…")
    }

    static func choice(_ choice: ConsentChoice) -> String {
        switch choice {
        case .once: "Only this once"
        case .untilLock: "Until the keychain locks"
        case .always: "Always"
        }
    }
}
