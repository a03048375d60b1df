import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanPrompt
import VaubanUserModel

/// A terminal shows the sentences of the sheet for every prompt.
@Suite struct TerminalPromptTests {
    static let operations: [PromptOperation] = [
        .readItem, .evaluatePolicy, .unlock, .consent, .sign, .decrypt, .exchangeKeys, .applicationPassword,
    ]
    static let callers: [CallerName] =
        [
            CallerName(pid: 1, path: nil), CallerName(pid: 2, path: "/snap/a", confinement: .init(.snap, "mail")),
        ]
        + ([nil] + IdentityGap.allCases).flatMap { gap in
            [[], ["/usr/bin/bash", "/usr/bin/mail"]].map { CallerName(pid: 4711, path: "/usr/bin/python3", gap: gap, startedBy: $0) }
        }

    @Test("Every action reads the same on the sheet and on a terminal", arguments: operations)
    func everyActionReadsTheSame(operation: PromptOperation) throws {
        for methods: AuthenticationMethods in [.passcode, .finger, [.passcode, .finger]] {
            try expectSameSentences(Self.request(operation, methods: methods))
        }
    }

    @Test("What else a passcode allows reads the same on the sheet and on a terminal", arguments: [Int64(300), 60, 90, 1])
    func everyHoldReadsTheSame(seconds: Int64) throws {
        let hold = PromptHold(seconds: seconds, namespace: "git\u{202E}", program: CallerName(pid: 1, path: "/usr/bin/ssh-keygen"))
        for methods: AuthenticationMethods in [.passcode, .finger, [.passcode, .finger]] {
            let request = Self.request(.sign, methods: methods, hold: hold)
            try expectSameSentences(request)
            let time = [300: "5 minutes", 60: "1 minute", 90: "90 seconds", 1: "1 second"][seconds] ?? ""
            #expect(
                PromptWords.action(request).hasSuffix("; your passcode then lets ssh-keygen sign for “git” with it for \(time)"),
                "\(PromptWords.action(request))")
        }
    }

    private static let settings = LockSettings(graceSeconds: 0, idleSeconds: 0, locksWithScreen: false)
    private static let strict = LockSettings(graceSeconds: 60, idleSeconds: 900, locksWithScreen: true)
    private static let idle = LockSettings(graceSeconds: 0, idleSeconds: 3600, locksWithScreen: false)
    private static let screen = LockSettings(graceSeconds: 0, idleSeconds: 0, locksWithScreen: true)
    private static let grace = LockSettings(graceSeconds: 90, idleSeconds: 0, locksWithScreen: false)
    private static let graceAndScreen = LockSettings(graceSeconds: 90, idleSeconds: 0, locksWithScreen: true)
    static let changes: [(change: CredentialChange, text: String)] = [
        (.configure(before: settings, after: idle), "to lock your keychain after 1 hour without use (now: never)"),
        (
            .configure(before: settings, after: strict),
            """
            to lock your keychain after 15 minutes without use (now: never), and to lock your keychain 1 minute after the screen locks \
            (now: stays open), and to keep your keychain open for 1 minute after sleep or a screen lock (now: locks at once)
            """
        ),
        (.configure(before: settings, after: screen), "to lock your keychain with the screen (now: stays open)"),
        (.configure(before: grace, after: graceAndScreen), "to lock your keychain 90 seconds after the screen locks (now: stays open)"),
        (.configure(before: graceAndScreen, after: grace), "to keep your keychain open when the screen locks (now: locks)"),
        (
            .configure(before: strict, after: settings),
            """
            to keep your keychain open however long nobody uses it (now: locks after 15 minutes), and to keep your keychain open when the \
            screen locks (now: locks), and to lock your keychain at once after sleep (now: stays open for 1 minute)
            """
        ),
        (
            .enroll(unlocks: false),
            """
            to enroll a finger: all fingers that this computer’s reader has for you then approve requests in place of your passcode; \
            items that require the present set of fingers can never be read again
            """
        ),
        (
            .enroll(unlocks: true),
            """
            to enroll a finger: all fingers that this computer’s reader has for you then approve requests in place of your passcode, \
            and unlock your keychain; items that require the present set of fingers can never be read again
            """
        ),
        (
            .forgetFingers,
            """
            to delete your fingers, so that only your passcode approves requests; items that require the present set of fingers can \
            never be read again
            """
        ),
        (.endRecoveryKey, "to end your recovery key; if you forget your passcode then, everything in your keychain is lost"),
        (.changePasscode, "to change your passcode to a new one that you type here; no program receives it"),
        (
            .makeRecoveryKey,
            "to make a recovery key, which is shown here once and sets a new passcode if you forget yours; an earlier one ends when you "
                + "have confirmed this one"
        ),
    ]

    @Test("A change reads the same on the sheet and on a terminal, with what there is now", arguments: changes)
    func everyChangeReadsTheSame(change: CredentialChange, text: String) throws {
        let request = Self.request(.changeCredential, change: change)
        #expect(PromptWords.action(request) == text)
        try expectSameSentences(request)
    }

    @Test("A terminal asks for the current passcode by its name") func currentPasscodeIsAskedForByName() {
        func entry(_ change: CredentialChange) -> String { TerminalPrompt(Self.request(.changeCredential, change: change)).entry }
        #expect(entry(.changePasscode) == "Current passcode (Ctrl-C or an empty line cancels): ")
        #expect(entry(.makeRecoveryKey) == "Passcode (Ctrl-C or an empty line cancels): ")
        #expect(TerminalPrompt.newEntry == "New passcode (Ctrl-C or an empty line cancels): ")
    }

    /// The enclave does not prompt for such a change; a prompt that has it must not hide it.
    @Test("A prompt hides no part of a change") func noPartOfAChangeIsHidden() {
        var terminal = Self.settings
        terminal.allowsTerminalPrompts = true
        let request = Self.request(.changeCredential, change: .configure(before: Self.settings, after: terminal))
        #expect(PromptWords.action(request) == "to change which programs may prompt on their own terminals")
    }

    @Test("Every consent reads the same on the sheet and on a terminal", arguments: Consent.Purpose.allCases)
    func everyConsentReadsTheSame(purpose: Consent.Purpose) throws {
        for offered: Consent.Choices in [.once, [.once, .untilLock], [.once, .untilLock, .always]] {
            let consent = Consent(purpose, offered: offered, item: "bank/anna", owner: "program:/usr/bin/bank", program: "/usr/bin/mail")
            try expectSameSentences(Self.request(.consent, consent: consent))
            try expectSameSentences(Self.request(.consent, methods: [.passcode, .finger], consent: consent))
        }
    }

    @Test("Every caller is described the same on the sheet and on a terminal", arguments: callers)
    func everyCallerIsDescribedTheSame(caller: CallerName) throws { try expectSameSentences(Self.request(.readItem, caller: caller)) }

    @Test("The state of the methods reads the same on the sheet and on a terminal") func everyStateReadsTheSame() throws {
        try expectSameSentences(Self.request(.readItem, attemptsLeft: 1))
        try expectSameSentences(Self.request(.readItem, attemptsLeft: 2))
        try expectSameSentences(Self.request(.readItem, attemptsLeft: 0, state: PromptState(secondsToWait: 90)))
        for left: Int64 in [0, 2] {
            try expectSameSentences(Self.request(.readItem, state: PromptState(finger: .disabled, fingersLeft: left)))
        }
    }

    @Test("A wrong passcode reads the same on the sheet and on a terminal", arguments: operations)
    func wrongPasscodesReadTheSame(operation: PromptOperation) throws {
        for methods: AuthenticationMethods in [.passcode, [.passcode, .finger]] {
            for left: Int64 in [1, 4] {
                let first = Self.request(operation, attemptsLeft: left + 1, methods: methods)
                let second = Self.request(operation, attempt: 2, attemptsLeft: left, methods: methods)
                try expectSameMiss(first, second, withPasscode: true)
            }
        }
    }

    @Test("An unrecognized finger reads the same on the sheet and on a terminal", arguments: [Int64(0), 1, 2])
    func unrecognizedFingersReadTheSame(left: Int64) throws {
        let awaited = PromptState(finger: .awaited, fingersLeft: left + 1)
        for methods: AuthenticationMethods in [.finger, [.passcode, .finger]] {
            let first = Self.request(.readItem, methods: methods, state: awaited)
            let second = Self.request(.readItem, attempt: 2, methods: methods, state: PromptState(finger: .awaited, fingersLeft: left))
            try expectSameMiss(first, second, withPasscode: false)
        }
    }

    @Test("Letters choose among the answers that a consent prompt offers") func lettersChooseAmongWhatIsOffered() {
        let prompt = TerminalPrompt(Self.request(.consent, consent: Consent(.readItem, offered: [.once, .always])))
        #expect(prompt.choice(UInt8(ascii: "o")) == .once)
        #expect(prompt.choice(UInt8(ascii: "A")) == .always)
        for key in [UInt8(ascii: "l"), UInt8(ascii: "n"), UInt8(ascii: "y"), nil] { #expect(prompt.choice(key) == nil) }
    }

    @Test("Digits choose an account, which sheet and terminal list") func digitsChooseAnAccount() throws {
        let consent = Consent(.usePassword, offered: .once, item: "example.com", accounts: ["anna", "ben"])
        let prompt = TerminalPrompt(Self.request(.consent, consent: consent))
        #expect(prompt.choice(UInt8(ascii: "1")) == .account(0) && prompt.choice(UInt8(ascii: "2")) == .account(1))
        for key in [UInt8(ascii: "0"), UInt8(ascii: "3"), UInt8(ascii: "o"), nil] { #expect(prompt.choice(key) == nil) }
        try expectSameSentences(Self.request(.consent, consent: consent))
    }

    @Test("Each choice is on its own line, and the name of an account is quoted") func choicesHaveLinesOfTheirOwn() {
        let consent = Consent(
            .usePassword, offered: .once, item: "example.com", accounts: ["anna, [2] ben; [n] Cancel:", "\n  [3] ben", ""])
        let accounts = TerminalPrompt(Self.request(.consent, consent: consent))
        let rows = ["[1] “anna, [2] ben; [n] Cancel:”", "[2] “\\u{a} \\u{20}[3] ben”", "[3] Without a name", "[n] Don’t Allow"]
        #expect(accounts.choices == "Allow:\n\(rows.map { "  \($0)\n" }.joined())Choice: ")
        #expect(accounts.title(of: .account(1)) == "“\\u{a} \\u{20}[3] ben”")
        let durations = TerminalPrompt(Self.request(.consent, consent: Consent(.readItem, offered: [.once, .always])))
        #expect(durations.choices == "Allow:\n  [o] Only this once\n  [a] Always\n  [n] Don’t Allow\nChoice: ")
    }

    @Test("A prompt that was not on the screen before is shown in full, whatever its attempt") func anotherPromptIsShownWhole() {
        let other = Self.request(.readItem, prompt: 2)
        let text = TerminalPrompt(Self.request(.readItem, attempt: 2), after: other).head()
        #expect(text.contains(PromptWords.title))
    }

    // MARK: Comparing

    private func expectSameSentences(_ request: PromptRequest, sourceLocation: SourceLocation = #_sourceLocation) throws {
        var model = SheetModel()
        let number = model.show(request, nil, now: 0)
        // The terminal has its entry at once; the sheet shows it on request.
        if request.methods.contains(.passcode) { _ = model.fallBack(number) }
        let view = try #require(model.view(now: 0))
        let prompt = TerminalPrompt(request)
        let text = prompt.head() + prompt.instruction + (prompt.choices ?? "")
        let single: [String?] = [
            view.application, view.wish.dropping("wants "), view.origin, view.instruction, view.reason, view.notice?.text,
        ]
        let listed = view.cautions.map(\.text) + view.itemDetails.flatMap { [$0.label, $0.text] } + view.choices.map(\.title)
        for sentence in single.compactMap(\.self) + listed { #expect(text.contains(sentence), "\(text)", sourceLocation: sourceLocation) }
    }

    private func expectSameMiss(
        _ first: PromptRequest, _ second: PromptRequest, withPasscode: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var model = SheetModel()
        let number = model.show(first, nil, now: 0)
        if withPasscode { _ = model.beginAnswer(number, withPasscode: true, now: 0) }
        _ = model.show(second, nil, now: 0)
        let notice = try #require(model.view(now: 0)?.notice, sourceLocation: sourceLocation)
        let text = TerminalPrompt(second, after: first).head()
        #expect(text == "\(notice.text) Attempt 2 of 3.\n", sourceLocation: sourceLocation)
    }

    private static func request(
        _ operation: PromptOperation, prompt: UInt8 = 1, attempt: Int64 = 1, attemptsLeft: Int64 = 5,
        methods: AuthenticationMethods = .passcode, state: PromptState? = nil,
        caller: CallerName = CallerName(pid: 4711, path: "/usr/bin/mail"), consent: Consent? = nil,
        hold: PromptHold? = nil, change: CredentialChange? = nil
    ) -> PromptRequest {
        let awaited = PromptState(finger: methods.contains(.finger) ? .awaited : .none, fingersLeft: 5)
        return PromptRequest(
            prompt: [UInt8](repeating: prompt, count: 16), user: 1000,
            challenge: PasscodeChallenge(nonce: [UInt8](repeating: UInt8(attempt), count: 32), purpose: .prompt), caller: caller,
            operation: operation, reason: "send the mail", attempt: attempt, attemptsLeft: attemptsLeft, methods: methods,
            state: state ?? awaited, consent: consent, hold: hold, change: change)
    }
}

extension String {
    fileprivate func dropping(_ prefix: String) -> String { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self }
}
