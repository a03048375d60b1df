package import VaubanAccessPolicy
package import VaubanDER

/// Why a caller has no identity of its own.
package enum IdentityGap: Int64, CaseIterable, Sendable {
    /// It runs code that others wrote: a shell, python3, the dynamic loader. Which script it runs cannot be determined reliably.
    case interpreter = 1
    /// Another process traces it and controls it.
    case traced = 2
    /// The process that started Vauban's command line has ended.
    case orphan = 3
    /// Code that users other than root can write is loaded into it.
    case foreignCode = 4
    /// It could not be inspected.
    case unseen = 5
}

/// The caller's name in a prompt, as the witness determined it; never the caller's own text.
package struct CallerName: Hashable, Sendable, DERReadable, DERWritable {
    package let pid: Int64
    /// The executable's path; nil if it could not be inspected.
    package let path: String?
    /// Why the caller has no identity of its own; nil if it has one.
    package let gap: IdentityGap?
    /// The programs that started it, the nearest first, if it is Vauban's own command line.
    package let startedBy: [String]
    /// Its Flatpak or snap; nil for other programs.
    package let confinement: Confinement?
    /// The signature of the program; nil if no team that the user or root trusts signed it.
    package let signature: Signature?

    /// A program's identifier in its signature, and the name that the user or root gave the team that made it.
    package struct Signature: Hashable, Sendable {
        package let identifier: String
        package let team: String

        package init(identifier: String, team: String) {
            self.identifier = identifier
            self.team = team
        }
    }

    package struct Confinement: Hashable, Sendable {
        package enum Kind: Int64, Sendable {
            case flatpak = 1
            case snap = 2
        }
        package let kind: Kind
        package let name: String

        package init(_ kind: Kind, _ name: String) {
            self.kind = kind
            self.name = name
        }
    }

    package static let startedByMax = 16
    package static let teamNameBytesMax = 64

    package init(
        pid: Int64, path: String?, gap: IdentityGap? = nil, startedBy: [String] = [], confinement: Confinement? = nil,
        signature: Signature? = nil
    ) {
        self.pid = pid
        self.confinement = confinement
        self.signature = signature
        self.path = path
        self.gap = gap
        self.startedBy = startedBy
    }

    package init(from fields: inout DERFields) throws {
        pid = try fields.integer("pid", in: 0...Int64(Int32.max))
        path = try fields.optionalText(0, "path", max: 4096)
        gap = try fields.optionalInteger(1, "gap", in: 1...255).map { number in
            guard let gap = IdentityGap(rawValue: number) else { throw DERError("gap is unknown") }
            return gap
        }
        startedBy =
            try fields.optional(2, "started by") { list in
                var paths: [String] = []
                while !list.isEmpty {
                    guard paths.count < Self.startedByMax else { throw DERError("started by has too many elements") }
                    paths.append(try list.text("started by", max: 1024))
                }
                return paths
            } ?? []
        confinement = try fields.optional(3, "confinement") { fields in
            guard let kind = Confinement.Kind(rawValue: try fields.integer("kind", in: 1...255)) else {
                throw DERError("confinement is unknown")
            }
            return Confinement(kind, try fields.text("name", max: 256))
        }
        signature = try fields.optional(4, "signature") { fields in
            Signature(
                identifier: try fields.text("identifier", max: ApplicationIdentifier.programIdentifierBytesMax),
                team: try fields.text("team", max: Self.teamNameBytesMax))
        }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(pid)
            try fields.optionalText(0, path)
            try fields.optionalInteger(1, gap?.rawValue)
            if !startedBy.isEmpty { try fields.tagged(2) { list in for path in startedBy { try list.text(path) } } }
            if let confinement {
                try fields.tagged(3) {
                    try $0.integer(confinement.kind.rawValue); try $0.text(confinement.name)
                }
            }
            if let signature {
                try fields.tagged(4) {
                    try $0.text(signature.identifier); try $0.text(signature.team)
                }
            }
        }
    }
}

/// The operation of a prompt, as the enclave names it.
package enum PromptOperation: Int64, Sendable {
    case readItem = 1
    case evaluatePolicy = 2
    case unlock = 3
    /// Give a program access to another program's items, as described by `Consent`.
    case consent = 4
    /// Use a private key, which never leaves the enclave.
    case sign = 5
    case decrypt = 6
    case exchangeKeys = 7
    /// Open an item with an application password, which the user types instead of the passcode.
    case applicationPassword = 8
    /// Change what opens the keychain, or when it locks, as described by `CredentialChange`.
    case changeCredential = 9
}

/// One round of a prompt. Each attempt has its own challenge; the prompt stays the same.
package struct PromptRequest: Hashable, Sendable, DERReadable, DERWritable {
    package let prompt: [UInt8]
    package let user: UInt32
    package let challenge: PasscodeChallenge
    package let caller: CallerName
    package let operation: PromptOperation
    /// The caller's reason as one bounded line without control characters and direction overrides. Show it apart from the caller's name.
    package let reason: String?
    /// 1 for the first attempt of this prompt.
    package let attempt: Int64
    /// The attempts before the next delay, or for this prompt if it requires an application password.
    package let attemptsLeft: Int64
    /// The evidence that the user can present: the passcode (or application password) here, a finger at the reader, or either.
    package let methods: AuthenticationMethods
    /// The state of the methods, for places that show it.
    package let state: PromptState
    /// The consent that the prompt requests, if the operation is `consent`.
    package let consent: Consent?
    /// The caller's button titles.
    package let titles: PromptTitles
    /// What else the passcode allows, for some time, if the operation is `sign`.
    package let hold: PromptHold?
    /// The change that the passcode makes, if the operation is `changeCredential`.
    package let change: CredentialChange?
    /// Whether the change is already made, and only the new recovery key remains to be shown. The challenge then accepts no passcode.
    package let isMade: Bool

    /// Whether the passcode, or the item's own, can be entered in the prompt.
    package var takesPasscode: Bool { methods.contains(.passcode) }

    /// Whether the prompt offers the caller's fallback: it does not accept the passcode, and the caller did not remove the button.
    package var offersFallback: Bool { !takesPasscode && titles.fallback != "" }

    package static let attemptsMax: Int64 = 3
    package static let reasonCharactersMax = 256
    package static let reasonBytesMax = 1024

    package init(
        prompt: [UInt8], user: UInt32, challenge: PasscodeChallenge, caller: CallerName, operation: PromptOperation, reason: String?,
        attempt: Int64, attemptsLeft: Int64, methods: AuthenticationMethods = .passcode, state: PromptState = PromptState(),
        consent: Consent? = nil, titles: PromptTitles = .standard, hold: PromptHold? = nil, change: CredentialChange? = nil,
        isMade: Bool = false
    ) {
        self.state = state
        self.isMade = isMade
        self.titles = titles
        self.hold = hold
        self.change = change
        self.prompt = prompt
        self.user = user
        self.challenge = challenge
        self.caller = caller
        self.operation = operation
        self.reason = reason
        self.attempt = attempt
        self.attemptsLeft = attemptsLeft
        self.methods = methods
        self.consent = consent
    }

    package init(from fields: inout DERFields) throws {
        prompt = try fields.octets("prompt", in: 16...16)
        user = UInt32(try fields.integer("user", in: 0...Int64(UInt32.max)))
        challenge = try fields.value("challenge")
        // A passcode sealed for another purpose would authorize something that no prompt shows.
        guard challenge.purpose == .prompt else { throw DERError("challenge is for another purpose than a prompt") }
        caller = try fields.value("caller")
        guard let operation = PromptOperation(rawValue: try fields.integer("operation", in: 1...255)) else {
            throw DERError("operation is unknown")
        }
        self.operation = operation
        attempt = try fields.integer("attempt", in: 1...Self.attemptsMax)
        attemptsLeft = try fields.integer("attempts left", in: 0...100)
        methods = AuthenticationMethods(rawValue: try fields.integer("methods", in: 1...3))
        state = try fields.value("state")
        reason = try fields.optionalText(0, "reason", max: 1024)
        consent = try fields.optional(1, "consent") { try $0.value("consent", as: Consent.self) }
        titles =
            try fields.optional(2, "titles") { fields in
                let titles = try fields.value("titles", as: PromptTitles.self)
                guard titles != .standard else { throw DERError("titles say nothing") }
                return titles
            } ?? .standard
        hold = try fields.optional(3, "hold") { try $0.value("hold", as: PromptHold.self) }
        change = try fields.optional(4, "change") { try $0.value("change", as: CredentialChange.self) }
        isMade = try fields.optional(5, "made") { _ in true } ?? false
        guard (consent != nil) == (operation == .consent) else { throw DERError("consent goes with its operation") }
        guard hold == nil || operation == .sign else { throw DERError("hold goes with a signature") }
        guard (change != nil) == (operation == .changeCredential) else { throw DERError("change goes with its operation") }
        guard !isMade || change == .makeRecoveryKey else { throw DERError("made goes with a recovery key") }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(prompt)
            try fields.integer(Int64(user))
            try fields.value(challenge)
            try fields.value(caller)
            try fields.integer(operation.rawValue)
            try fields.integer(attempt)
            try fields.integer(attemptsLeft)
            try fields.integer(methods.rawValue)
            try fields.value(state)
            try fields.optionalText(0, reason)
            if let consent { try fields.tagged(1) { try $0.value(consent) } }
            if titles != .standard { try fields.tagged(2) { try $0.value(titles) } }
            if let hold { try fields.tagged(3) { try $0.value(hold) } }
            if let change { try fields.tagged(4) { try $0.value(change) } }
            if isMade { fields.tagged(5) { _ in } }
        }
    }
}

/// An agent's answer. No agent can grant anything by itself.
package enum PromptAnswer: Hashable, Sendable {
    case passcode(SealedPasscode)
    /// The answer to a prompt for consent: how long the consent lasts. The passcode's seal is bound to the choice, so that a process that
    /// relays the answer cannot extend it.
    case consent(SealedPasscode, ConsentChoice)
    /// The answer to a prompt for a change that takes a new secret: that secret, sealed for the same challenge. The passcode's seal is
    /// bound to it, so that a process that relays the answer cannot exchange it.
    case credential(SealedPasscode, new: SealedPasscode)
    /// The user has seen the new recovery key: the answer to a prompt whose change is made.
    case seen
    case cancelled
    case fallback
    /// No agent can show the prompt. Sent by authd, never by an agent.
    case nobody
}

/// `PromptAnswer ::= CHOICE { passcode [0] SealedPasscode, cancelled [1], fallback [2], nobody [3],
///   consent [4] { SealedPasscode, choice INTEGER }, credential [5] { SealedPasscode, new SealedPasscode }, seen [6] }`
extension PromptAnswer {
    package init(choiceFrom fields: inout DERFields) throws {
        switch try fields.choice("answer") {
        case 0:
            guard let sealed = try fields.optional(0, "passcode", read: { try $0.value("passcode", as: SealedPasscode.self) }) else {
                throw DERError("passcode is missing")
            }
            self = .passcode(sealed)
        case 1: _ = try fields.optional(1, "cancelled") { _ in }; self = .cancelled
        case 2: _ = try fields.optional(2, "fallback") { _ in }; self = .fallback
        case 3: _ = try fields.optional(3, "nobody") { _ in }; self = .nobody
        case 4:
            let given: PromptAnswer? = try fields.optional(4, "consent") { consent in
                let sealed: SealedPasscode = try consent.value("passcode")
                guard let choice = ConsentChoice(rawValue: try consent.integer("choice", in: 1...255)) else {
                    throw DERError("choice is unknown")
                }
                return .consent(sealed, choice)
            }
            guard let given else { throw DERError("consent is missing") }
            self = given
        case 5:
            let given: PromptAnswer? = try fields.optional(5, "credential") { credential in
                let sealed: SealedPasscode = try credential.value("passcode")
                return .credential(sealed, new: try credential.value("new secret"))
            }
            guard let given else { throw DERError("credential is missing") }
            self = given
        case 6: _ = try fields.optional(6, "seen") { _ in }; self = .seen
        default: throw DERError("answer is unknown")
        }
    }

    package func write(into der: inout DERWriter) throws {
        switch self {
        case .passcode(let sealed): try der.tagged(0) { try $0.value(sealed) }
        case .cancelled: der.tagged(1) { _ in }
        case .fallback: der.tagged(2) { _ in }
        case .nobody: der.tagged(3) { _ in }
        case .consent(let sealed, let choice):
            try der.tagged(4) {
                try $0.value(sealed); try $0.integer(choice.rawValue)
            }
        case .credential(let sealed, let new):
            try der.tagged(5) {
                try $0.value(sealed); try $0.value(new)
            }
        case .seen: der.tagged(6) { _ in }
        }
    }
}

/// The outcome of a prompt, so that an agent can report it when it removes the prompt from the screen.
package enum PromptOutcome: Int64, Sendable {
    case accepted = 0
    case failed = 1
    case cancelled = 2
    case expired = 3
    case callerGone = 4
}
