internal import VaubanAccessPolicy
internal import VaubanPlainText
package import VaubanUserModel

/// The sentences of a prompt, the same wherever it appears: on the sheet, at `vauban approve`, and on a program's own terminal. The action
/// comes from the enclave and the caller's name from the system; the caller's own text is kept apart and quoted.
package enum PromptWords {
    package static let nameMax = 60
    private static let pathMax = 160
    private static let textMax = 240

    /// A detail of the item that a consent prompt is about.
    package struct ItemDetail: Hashable, Sendable {
        package let label: String
        package let text: String
    }

    /// A caution about a program whose name is not informative.
    package struct Caution: Hashable, Sendable {
        package let text: String
        /// Whether it warns of a danger; false for missing knowledge.
        package let isWarning: Bool
    }

    package static let title = "Vauban asks for your approval."

    /// Returns the program's name, for places that have no better one: the identifier that a trusted team signed it with, or that of its
    /// file.
    package static func name(of caller: CallerName) -> String {
        if let signature = caller.signature { return PlainLine.name(signature.identifier, charactersMax: nameMax) }
        guard let path = caller.path else { return "An unknown program" }
        return PlainLine.path(PathBytes.name(of: path), charactersMax: nameMax)
    }

    /// Returns who signed the program, if a trusted team did, and its path, which distinguishes programs of the same name.
    package static func origin(of caller: CallerName) -> String {
        let process = "process \(caller.pid)"
        if let confinement = caller.confinement {
            let kind = confinement.kind == .flatpak ? "Flatpak" : "Snap"
            return "\(kind) \(PlainLine.path(confinement.name, charactersMax: nameMax)) · \(process)"
        }
        guard let path = caller.path else { return process }
        let signer = caller.signature.map { "signed by \(PlainLine.name($0.team, charactersMax: nameMax)) · " } ?? ""
        return "\(signer)\(PlainLine.path(path, charactersMax: pathMax)) · \(process)"
    }

    /// Returns what the program wants, as the rest of a sentence: the program "wants" this.
    package static func action(_ request: PromptRequest) -> String {
        guard let consent = request.consent else {
            switch request.operation {
            case .readItem: return "to read a secret that is given out only with your approval"
            case .evaluatePolicy: return "to make sure that it is you"
            case .unlock: return "to unlock your keychain"
            case .consent: return "to get access"
            case .sign: return "to sign with a key that it keeps in your keychain\(request.hold.map(extent) ?? "")"
            case .decrypt: return "to decrypt with a key that it keeps in your keychain"
            case .applicationPassword: return "to open a secret that has its own password"
            case .exchangeKeys: return "to agree on a secret with a key that it keeps in your keychain"
            case .changeCredential: return request.change.map { action($0) } ?? "to change your keychain"
            }
        }
        switch consent.purpose {
        case .readItem: return "to read a secret that another program keeps"
        case .changeItem: return "to change a secret that another program keeps"
        case .deleteItem: return "to delete a secret that another program keeps"
        case .acceptBuild: return "to be accepted as a new version of a program that keeps secrets here"
        case .listOwners: return "to see what every program keeps, without the secrets themselves"
        case .changePermission: return "to change which programs may read which secrets"
        case .changeCanaries: return "to see or change which secrets are canaries, whose use you are told of"
        case .moveItems: return "to give secrets to another owner"
        case .backUp where consent.program != nil: return "to back up your keychain, encrypted for a recipient"
        case .backUp: return "to back up your keychain, encrypted with a passphrase"
        case .restoreBackup: return "to restore items from a backup of a keychain"
        case .admitDevice: return "to let another device read and change your synchronized items"
        case .enterCircle: return "to share synchronized items with another device, which reads and changes yours"
        case .removeDevice: return "to remove a device, which then reads no new synchronized items"
        case .admitCompanion: return "to let another device receive some of your synchronized items, as a companion that changes nothing"
        case .enterAsCompanion: return "to receive items of another device as its companion; they replace or delete what you change here"
        case .allowItems: return "to give a companion more of your synchronized items"
        case .disallowItems: return "to stop giving a companion some of your synchronized items"
        case .makeToken: return "to make a token: the first device that has it receives some of your synchronized items, without asking you"
        case .makeRecoveryKey: return "to make a recovery key: with it, one device joins your circle without another; an earlier one ends"
        case .endRecoveryKey: return "to end the recovery key of your circle"
        case .enterByRecoveryKey: return "to share synchronized items with these devices; if you removed one of them, refuse"
        case .savePassword: return "to save a password for a website among yours"
        case .changePassword: return "to change a password of yours for a website"
        case .deletePassword: return "to delete a password of yours for a website"
        case .usePassword: return "to log in to its website with a password of yours"
        case .restore: return "to replace your damaged keychain with an earlier copy; what was deleted since comes back"
        }
    }

    /// Returns what the passcode allows besides this signature, as the rest of the sentence.
    private static func extent(of hold: PromptHold) -> String {
        let purpose = PlainLine.of(hold.namespace, charactersMax: nameMax)
        return "; your passcode then lets \(name(of: hold.program)) sign for “\(purpose)” with it for \(DurationText.exact(hold.seconds))"
    }

    /// Returns the name of an account among those to pick from.
    static func account(_ name: String) -> String { name.isEmpty ? "Without a name" : PlainLine.name(name, charactersMax: nameMax) }

    /// Returns the caller's reason, as long as the enclave lets it be: callers put what matters into that.
    package static func reason(_ request: PromptRequest) -> String? {
        request.reason.map { PlainLine.of($0, charactersMax: PromptRequest.reasonCharactersMax) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    package static func itemDetails(_ consent: Consent) -> [ItemDetail] {
        let isOfCompanion = [.admitCompanion, .allowItems, .disallowItems, .makeToken].contains(consent.purpose)
        let (item, owner, program) =
            switch consent.purpose {
            case .admitDevice, .enterCircle, .removeDevice, .enterAsCompanion: ("Code on the other device", "Kept by", "Device")
            case .admitCompanion, .allowItems, .disallowItems: ("Code on the other device", "Items", "Companion")
            case .makeToken: ("Can be used once, within", "Items", "Companion")
            case .enterByRecoveryKey: ("Secret", "Kept by", "Devices")
            default: ("Secret", "Kept by", "For")
            }
        let itemDetails = [
            (item, consent.item.map { PlainLine.name($0, charactersMax: textMax) }),
            (
                owner,
                consent.owner.map {
                    isOfCompanion ? PlainLine.name($0, charactersMax: textMax) : PlainLine.path($0, charactersMax: textMax)
                }
            ),
            (program, consent.program.map { PlainLine.path($0, charactersMax: textMax) }),
        ]
        return itemDetails.compactMap { label, text in
            guard let text, !text.isEmpty else { return nil }
            return ItemDetail(label: label, text: text)
        }
    }

    /// Returns cautions for the user about a caller whose name is not informative.
    package static func cautions(_ caller: CallerName) -> [Caution] {
        let chain = caller.startedBy.map { PlainLine.path($0, charactersMax: pathMax) }.joined(separator: ", started by ")
        switch caller.gap {
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
        var cautions: [Caution] = chain.isEmpty ? [] : [.init(text: "Started by \(chain)", isWarning: false)]
        switch caller.gap {
        case .traced: cautions.append(.init(text: "Another program watches and controls it.", isWarning: true))
        case .orphan:
            cautions.append(.init(text: "Which program started it is unknown: that program ended or detached from it.", isWarning: false))
        case .foreignCode: cautions.append(.init(text: "It may run code that the administrator did not install.", isWarning: true))
        case .interpreter, .unseen, nil: break
        }
        return cautions
    }

    /// Returns what the user does to answer.
    /// - Parameter device: The device that sent the prompt, if it is not this one: its passcode is the answer.
    package static func instruction(_ request: PromptRequest, showsEntry: Bool, of device: String? = nil) -> String {
        switch request.change {
        case .changePasscode: return "Type your current passcode, then a new one twice."
        case .makeRecoveryKey: return "Type your Vauban passcode to make it."
        default: break
        }
        if request.operation == .applicationPassword { return "Type the password of this secret, not your Vauban passcode." }
        if let device { return "Type the Vauban passcode of “\(device)”, not of this device, to allow it." }
        let isOnce = request.consent != nil || request.hold != nil
        let touch = "Touch the fingerprint reader\(isOnce ? " to allow it once" : "")"
        return switch (request.methods.contains(.finger), showsEntry) {
        case (true, true): "\(touch), or type your Vauban passcode."
        case (true, false): isOnce ? "\(touch)." : "\(touch) to allow it."
        default: "Type your Vauban passcode to allow it."
        }
    }
}
