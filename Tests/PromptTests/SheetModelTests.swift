import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanPrompt
import VaubanUserModel

/// The sheet's state: its view after each event.
@Suite struct SheetModelTests {
    private static let second: UInt64 = 1_000_000_000
    private static let caller = CallerName(pid: 4711, path: "/usr/bin/mail")

    private static func request(
        prompt: UInt8 = 1, attempt: Int64 = 1, attemptsLeft: Int64 = 5, methods: AuthenticationMethods = .passcode,
        state: PromptState = PromptState(),
        operation: PromptOperation = .readItem, reason: String? = nil, caller: CallerName = caller, consent: Consent? = nil,
        titles: PromptTitles = .standard
    ) -> PromptRequest {
        PromptRequest(
            prompt: [UInt8](repeating: prompt, count: 16), user: 1000,
            challenge: PasscodeChallenge(nonce: [UInt8](repeating: UInt8(attempt), count: 32), purpose: .prompt), caller: caller,
            operation: operation, reason: reason, attempt: attempt, attemptsLeft: attemptsLeft, methods: methods, state: state,
            consent: consent,
            titles: titles)
    }

    private static let fingerFirst = PromptState(finger: .awaited, fingersLeft: 5)

    @Test("The sheet is hidden without a prompt") func sheetIsHiddenWithoutAPrompt() throws {
        var model = SheetModel()
        #expect(model.view(now: 0) == nil)
        _ = model.show(Self.request(), nil, now: 0)
        #expect(model.view(now: 0) != nil)
        model.removePrompt()
        #expect(model.view(now: 0) == nil)
    }

    @Test("The name comes from the system, and the caller's reason is separate") func nameComesFromTheSystemAndReasonIsSeparate() throws {
        var model = SheetModel()
        let asked = Self.request(reason: "send\u{202e} your\u{1b}[2J mail\nfrom: the bank")
        _ = model.show(asked, .init(name: "Mail", icon: "mail-app"), now: 0)
        let view = try #require(model.view(now: 0))
        #expect(view.application == "Mail")
        #expect(view.icon == "mail-app")
        #expect(view.origin == "/usr/bin/mail · process 4711")
        #expect(view.reason == "send your[2J mail from: the bank")
        #expect(view.entry == .open)
        #expect(view.finger == .hidden)
        #expect((view.cancel, view.fallback, view.confirm) == ("Cancel", nil, "Allow"))
    }

    @Test("A reason that the enclave passes on whole is shown whole") func longestReasonIsShownWhole() throws {
        var model = SheetModel()
        let longest = String(repeating: "x", count: PromptRequest.reasonCharactersMax - 1) + "y"
        _ = model.show(Self.request(reason: longest), nil, now: 0)
        let view = try #require(model.view(now: 0))
        #expect(view.reason == longest)
    }

    @Test("A repeated prompt keeps the name and icon of its program") func repeatedPromptKeepsItsProgram() throws {
        var model = SheetModel()
        let first = Self.request()
        #expect(!model.isShowing(first.prompt))
        let number = model.show(first, .init(name: "Mail", icon: "mail-app"), now: 0)
        #expect(model.isShowing(first.prompt))
        _ = model.beginAnswer(number, withPasscode: true, now: 0)
        #expect(model.isShowing(first.prompt))
        _ = model.show(Self.request(attempt: 2, attemptsLeft: 4), nil, now: 0)
        let view = try #require(model.view(now: 0))
        #expect((view.application, view.icon) == ("Mail", "mail-app"))
        let other = Self.request(prompt: 2)
        #expect(!model.isShowing(other.prompt))
        _ = model.show(other, nil, now: 0)
        #expect(model.view(now: 0)?.application == "mail")
    }

    @Test("Escape codes in a name are written out") func escapeCodesInANameAreWrittenOut() throws {
        var model = SheetModel()
        _ = model.show(Self.request(caller: CallerName(pid: 1, path: "/home/a/\u{1b}]0;x\u{7}\u{202e}liam")), nil, now: 0)
        let view = try #require(model.view(now: 0))
        #expect(view.application == "\\u{1b}]0;x\\u{7}\\u{202e}liam")
        #expect(view.origin == "/home/a/\\u{1b}]0;x\\u{7}\\u{202e}liam · process 1")
    }

    @Test("A wrong passcode shows the attempts that are left") func wrongPasscodeShowsAttemptsLeft() throws {
        var model = SheetModel()
        let number = model.show(Self.request(), nil, now: 0)
        #expect(model.view(now: 0)?.notice == nil)
        let isTaken = model.beginAnswer(number, withPasscode: true, now: 0)
        #expect(isTaken)
        #expect(model.view(now: 0)?.entry == .closed)
        // An answer that is being checked cannot be given again.
        let isTakenAgain = model.beginAnswer(number, withPasscode: true, now: 0)
        #expect(!isTakenAgain)
        let again = model.show(Self.request(attempt: 2, attemptsLeft: 4), nil, now: 0)
        #expect(again == number)
        let view = try #require(model.view(now: 0))
        #expect(view.notice == .init(text: "That was not your passcode. 4 attempts are left before you have to wait.", isError: true))
        #expect((view.entry, view.misses) == (.open, 1))
    }

    @Test("The prompt says that something was ignored that may have been meant for another window")
    func ignoredTypingIsShown() throws {
        var model = SheetModel()
        let number = model.show(Self.request(), nil, now: 0)
        model.ignoreTyping(number + 1)
        #expect(model.view(now: 0)?.notice == nil)
        model.ignoreTyping(number)
        let view = try #require(model.view(now: 0))
        let notice = try #require(view.notice)
        #expect(notice.text.hasPrefix("What you just typed was ignored"))
        #expect(notice.isError)
        // It is no attempt.
        #expect((view.entry, view.misses) == (.open, 0))
    }

    @Test("An answer to another prompt is ignored") func answerToAnotherPromptIsIgnored() {
        var model = SheetModel()
        let first = model.show(Self.request(prompt: 1), nil, now: 0)
        model.removePrompt()
        let second = model.show(Self.request(prompt: 2), nil, now: 0)
        #expect(first != second)
        let isFirstTaken = model.beginAnswer(first, withPasscode: true, now: 0)
        #expect(!isFirstTaken)
        let wayOfFirst = model.fallBack(first)
        #expect(wayOfFirst == .none)
        let isTaken = model.beginAnswer(second, withPasscode: true, now: 0)
        #expect(isTaken)
    }

    @Test("The fingerprint comes first, and the passcode entry on request") func fingerprintComesFirstAndPasscodeOnRequest() throws {
        var model = SheetModel()
        let number = model.show(Self.request(methods: [.finger, .passcode], state: Self.fingerFirst), nil, now: 0)
        var view = try #require(model.view(now: 0))
        #expect((view.finger, view.entry, view.confirm, view.fallback) == (.waiting, .hidden, nil, "Use Passcode…"))
        let way = model.fallBack(number)
        #expect(way == .entry)
        view = try #require(model.view(now: 0))
        #expect((view.finger, view.entry, view.confirm, view.fallback) == (.waiting, .open, "Allow", nil))
        // A miss of the fingerprint in the meantime changes nothing.
        _ = model.show(
            Self.request(attempt: 2, methods: [.finger, .passcode], state: PromptState(finger: .awaited, fingersLeft: 4)), nil, now: 0)
        view = try #require(model.view(now: 0))
        #expect((view.finger, view.entry, view.misses) == (.tryAgain, .open, 0))
    }

    @Test("The picture shows what happened at the reader") func pictureReflectsReaderEvents() throws {
        var model = SheetModel()
        _ = model.show(Self.request(methods: [.finger, .passcode], state: Self.fingerFirst), nil, now: 0)
        let steps: [(PromptUpdate, SheetView.Finger, String)] = [
            (
                PromptUpdate(.hint, fingersLeft: 5, hint: .tooShort), .tryAgain,
                "That was too short. Rest your finger on the reader a little longer."
            ),
            (PromptUpdate(.tryAgain, fingersLeft: 4), .tryAgain, "That finger was not recognized. Try again."),
            (
                PromptUpdate(.tryAgain, fingersLeft: 1), .tryAgain,
                "That finger was not recognized. Try again: after one more miss, fingerprints are switched off."
            ),
            (PromptUpdate(.disabled, fingersLeft: 0), .disabled, "Fingerprints are switched off until you type your passcode."),
            (
                PromptUpdate(.disabled, fingersLeft: 2), .disabled,
                "Fingerprints no longer count for this prompt. Type your passcode."
            ),
            (PromptUpdate(.readerGone, fingersLeft: 0), .hidden, "The fingerprint reader is gone."),
            (PromptUpdate(.matched, fingersLeft: 0), .matched, "Recognized."),
        ]
        for (update, finger, words) in steps {
            model.record(update)
            let view = try #require(model.view(now: 0))
            #expect((view.finger, view.notice?.text) == (finger, words))
        }
    }

    @Test("The passcode entry is open if fingerprints do not count") func passcodeEntryIsOpenWhenNoFingerprintCounts() throws {
        var model = SheetModel()
        _ = model.show(Self.request(methods: .passcode, state: PromptState(finger: .disabled)), nil, now: 0)
        let view = try #require(model.view(now: 0))
        #expect(
            (view.finger, view.entry, view.notice?.text) == (
                .disabled, .open, "Fingerprints are switched off until you type your passcode."
            ))
    }

    /// Three misses end fingerprints for one prompt; the next prompt accepts them again while attempts are left.
    @Test("Misses in one prompt do not disable fingerprints for the next") func missesInOnePromptDoNotDisableFingerprints() throws {
        var model = SheetModel()
        _ = model.show(Self.request(methods: [.finger, .passcode], state: Self.fingerFirst), nil, now: 0)
        model.record(PromptUpdate(.disabled, fingersLeft: 2))
        _ = model.show(Self.request(methods: .passcode, state: PromptState(finger: .disabled, fingersLeft: 2)), nil, now: 0)
        var view = try #require(model.view(now: 0))
        #expect(view.notice?.text == "Fingerprints no longer count for this prompt. Type your passcode.")
        #expect((view.finger, view.entry) == (.disabled, .open))
        model.removePrompt()
        let next = Self.request(prompt: 2, methods: [.finger, .passcode], state: PromptState(finger: .awaited, fingersLeft: 2))
        _ = model.show(next, nil, now: 0)
        view = try #require(model.view(now: 0))
        #expect((view.finger, view.notice?.text) == (.waiting, nil))
    }

    @Test("The buttons show the caller's titles") func buttonsShowTheCallersTitles() throws {
        var model = SheetModel()
        let titles = PromptTitles(cancel: "Not now", fallback: "Use the bank’s own password")
        let number = model.show(
            Self.request(methods: .finger, state: Self.fingerFirst, operation: .evaluatePolicy, titles: titles), nil, now: 0)
        let view = try #require(model.view(now: 0))
        #expect((view.cancel, view.fallback, view.confirm, view.entry) == ("Not now", "Use the bank’s own password", nil, .hidden))
        let way = model.fallBack(number)
        #expect(way == .answer)
    }

    @Test("An empty title hides the button") func emptyTitleHidesTheButton() throws {
        var model = SheetModel()
        let titles = PromptTitles(cancel: nil, fallback: "")
        let number = model.show(Self.request(methods: .finger, state: Self.fingerFirst, titles: titles), nil, now: 0)
        #expect(model.view(now: 0)?.fallback == nil)
        let way = model.fallBack(number)
        #expect(way == .none)
    }

    @Test("A delay is counted down", arguments: [(0, "1:30", 1.0), (30_500_000_000, "1:00", 0.5), (89_999_999_999, "0:01", 0.000_000_001)])
    func delayIsCountedDown(now: UInt64, clock: String, next: Double) throws {
        var model = SheetModel()
        let number = model.show(Self.request(attemptsLeft: 0, state: PromptState(secondsToWait: 90)), nil, now: 0)
        let view = try #require(model.view(now: now))
        #expect(view.notice == .init(text: "You can try again in \(clock).", isError: true))
        #expect((view.entry, view.secondsToNext) == (.closed, next))
        let isTaken = model.beginAnswer(number, withPasscode: true, now: now)
        #expect(!isTaken)
        let canDecline = model.beginAnswer(number, withPasscode: false, now: now)
        #expect(canDecline, "no is an answer at any time")
    }

    @Test("The passcode entry opens when the delay is over") func lockoutEnds() throws {
        var model = SheetModel()
        let number = model.show(Self.request(attemptsLeft: 0, state: PromptState(secondsToWait: 90)), nil, now: 7)
        let view = try #require(model.view(now: 90 * Self.second + 7))
        #expect((view.entry, view.notice, view.secondsToNext) == (.open, nil, nil))
        let isTaken = model.beginAnswer(number, withPasscode: true, now: 90 * Self.second + 7)
        #expect(isTaken)
    }

    @Test("A delay without a prompt is counted down until it is dismissed or over") func lockoutCountsDownUntilReadOrOver() throws {
        var model = SheetModel()
        let first = model.show(Self.request(), nil, now: 0)
        model.removePrompt()
        model.lockOut(seconds: 60, now: 0)
        let view = try #require(model.view(now: 500_000_000))
        #expect((view.notice?.text, view.entry, view.confirm, view.secondsToNext) == ("You can try again in 1:00.", .hidden, nil, 0.5))
        #expect(view.request != first)
        #expect(model.view(now: 60 * Self.second) == nil)
        // A prompt that comes in the meantime replaces it.
        _ = model.show(Self.request(prompt: 2), nil, now: 0)
        #expect(model.view(now: 0)?.confirm == "Allow")
    }

    @Test("A consent prompt shows the owner and the offered choices") func consentShowsTheOwnerAndTheOfferedChoices() throws {
        var model = SheetModel()
        let consent = Consent(
            .readItem, offered: [.once, .untilLock, .always], item: "bank/\u{202e}anna", owner: "program:/usr/bin/bank", program: nil)
        let number = model.show(Self.request(operation: .consent, consent: consent), nil, now: 0)
        let view = try #require(model.view(now: 0))
        #expect(view.itemDetails.map(\.label) == ["Secret", "Kept by"])
        #expect(view.itemDetails.map(\.text) == ["bank/\\u{202e}anna", "program:/usr/bin/bank"])
        #expect(view.choices.map(\.number) == [1, 2, 3])
        #expect((view.cancel, view.confirm) == ("Don’t Allow", "Allow"))
        #expect(model.offers(.always, number))
    }

    @Test("A single choice is not shown") func singleChoiceIsNotShown() throws {
        var model = SheetModel()
        let number = model.show(Self.request(operation: .consent, consent: Consent(.restore, offered: .once)), nil, now: 0)
        #expect(model.view(now: 0)?.choices == [])
        #expect(!model.offers(.always, number))
        #expect(model.offers(.once, number))
    }

    @Test(
        "Gaps in a program's identity are shown",
        arguments: [
            (IdentityGap.interpreter, "It runs scripts and commands: which one asks is unknown.", false),
            (.traced, "Another program watches and controls it.", true),
            (.foreignCode, "It may run code that the administrator did not install.", true),
        ])
    func identityGapsAreShown(gap: IdentityGap, words: String, isWarning: Bool) throws {
        var model = SheetModel()
        _ = model.show(Self.request(caller: CallerName(pid: 1, path: "/usr/bin/python3.11", gap: gap)), nil, now: 0)
        #expect(model.view(now: 0)?.cautions == [.init(text: words, isWarning: isWarning)])
    }

    @Test("The sheet shows which program started the command line") func sheetShowsWhichProgramStartedTheCommandLine() throws {
        var model = SheetModel()
        let caller = CallerName(pid: 1, path: "/usr/bin/vauban", gap: .interpreter, startedBy: ["/usr/bin/bash", "/usr/bin/mail"])
        _ = model.show(Self.request(caller: caller), nil, now: 0)
        let words = "Started by /usr/bin/bash, started by /usr/bin/mail. Which script or command asks is unknown."
        #expect(model.view(now: 0)?.cautions == [.init(text: words, isWarning: false)])
    }

    @Test("A program that a trusted team signed is named by its identifier and the team") func signedProgramIsNamedByItsTeam() throws {
        var model = SheetModel()
        let signature = CallerName.Signature(identifier: "com.acme.tool", team: "Acme \u{202E}Tools")
        _ = model.show(Self.request(caller: CallerName(pid: 7, path: "/home/a/other", signature: signature)), nil, now: 0)
        let view = try #require(model.view(now: 0))
        #expect(view.application == "com.acme.tool")
        #expect(view.origin.hasPrefix("signed by Acme "))
        #expect(view.origin.hasSuffix("Tools · /home/a/other · process 7"))
        #expect(!view.origin.contains("\u{202E}"))
    }

    @Test("A failure of the service is shown until it is dismissed") func serviceFailureIsShownUntilDismissed() throws {
        var model = SheetModel()
        model.fail("WARNING: the key is not the enclave's")
        model.removePrompt()
        let view = try #require(model.view(now: 0))
        #expect((view.entry, view.confirm, view.cancel) == (.hidden, nil, "Close"))
        let isGone = model.dismissNotice(view.request)
        #expect(isGone)
        #expect(model.view(now: 0) == nil)
    }
}
