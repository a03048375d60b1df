import TestSupport
import Testing
import VaubanPasscodeEstimate
import VaubanPrompt
import VaubanSecretBytes
import VaubanUserModel

/// One byte more than can be sealed.
private let tooLong = String(
    decoding: (0...SealedPasscode.passcodeBytesMax).map { (index: Int) -> UInt8 in UInt8(97 + (index * index + index / 7) % 26) },
    as: UTF8.self)

/// The sheet while a new passcode is typed and while a recovery key is shown.
@Suite struct NewSecretSheetTests {
    private static func request(
        _ change: CredentialChange, attempt: Int64 = 1, attemptsLeft: Int64 = 5, secondsToWait: Int64 = 0
    ) -> PromptRequest {
        PromptRequest(
            prompt: [UInt8](repeating: 1, count: 16), user: 1000,
            challenge: PasscodeChallenge(nonce: [UInt8](repeating: UInt8(attempt), count: 32), purpose: .prompt),
            caller: CallerName(pid: 4711, path: "/usr/bin/vauban-desktop"), operation: .changeCredential, reason: nil, attempt: attempt,
            attemptsLeft: attemptsLeft, state: PromptState(secondsToWait: secondsToWait), change: change)
    }

    private static func bytes(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

    private static func accepts(_ model: inout SheetModel, new: String, repeated: String, number: Int) -> Bool {
        model.accepts(new: bytes(new), repeated: bytes(repeated), number)
    }

    @Test("A change of the passcode has three entries, each with its name") func changeOfThePasscodeHasThreeEntries() throws {
        var model = SheetModel()
        _ = model.show(Self.request(.changePasscode), nil, now: 0)
        let view = try #require(model.view(now: 0))
        #expect((view.entry, view.entryName) == (.open, "Current passcode"))
        #expect(view.newPasscode == .init(name: "New passcode", repetition: "Repeat the new passcode", estimate: ""))
        #expect((view.cancel, view.confirm, view.recoveryKey) == ("Cancel", "Change Passcode", nil))
        #expect(view.instruction == "Type your current passcode, then a new one twice.")
        // Every other prompt has one.
        _ = model.show(Self.request(.makeRecoveryKey), nil, now: 0)
        let other = try #require(model.view(now: 0))
        #expect((other.entryName, other.newPasscode, other.confirm) == ("Vauban passcode", nil, "Make Recovery Key"))
    }

    @Test(
        "A new passcode that differs or is too weak is typed again, and nothing is sent",
        arguments: [
            ("correct horse", "correct house", "The entries differ. Try again."),
            ("12345", "12345", "Too weak: five digits: whoever has this disk tries them all in at most"),
            ("aaaaaaaa", "aaaaaaaa", "Too weak: it is one character again and again, which is tried first."),
            (tooLong, tooLong, "The passcode is too long."),
        ])
    func newPasscodeIsTypedAgain(new: String, repeated: String, words: String) throws {
        var model = SheetModel()
        let number = model.show(Self.request(.changePasscode), nil, now: 0)
        model.estimate("Letters.", number)
        #expect(!Self.accepts(&model, new: new, repeated: repeated, number: number))
        let view = try #require(model.view(now: 0))
        #expect(view.notice?.text.hasPrefix(words) == true && view.notice?.isError == true, "\(String(describing: view.notice))")
        // The current passcode stays in its entry.
        #expect((view.rejections, view.misses, view.entry, view.newPasscode?.estimate) == (1, 0, .open, ""))
        #expect(Self.accepts(&model, new: "correct horse", repeated: "correct horse", number: number))
        let isTaken = model.beginAnswer(number, withPasscode: true, now: 0)
        #expect(isTaken)
        // While it is checked, it is not accepted again.
        #expect(!Self.accepts(&model, new: "correct horse", repeated: "correct horse", number: number))
    }

    @Test("A wrong current passcode clears every entry") func wrongCurrentPasscodeClearsEveryEntry() throws {
        var model = SheetModel()
        let number = model.show(Self.request(.changePasscode), nil, now: 0)
        _ = model.beginAnswer(number, withPasscode: true, now: 0)
        #expect(model.view(now: 0)?.entry == .closed)
        _ = model.show(Self.request(.changePasscode, attempt: 2, attemptsLeft: 4), nil, now: 0)
        let view = try #require(model.view(now: 0))
        #expect((view.entry, view.misses) == (.open, 1))
        #expect(view.notice?.text == "That was not your passcode. 4 attempts are left before you have to wait.")
    }

    @Test("During a delay no new passcode is accepted") func duringADelayNoNewPasscodeIsAccepted() throws {
        var model = SheetModel()
        let number = model.show(Self.request(.changePasscode, attemptsLeft: 0, secondsToWait: 60), nil, now: 0)
        #expect(model.view(now: 0)?.entry == .closed)
        let isTaken = model.beginAnswer(number, withPasscode: true, now: 0)
        #expect(!isTaken)
    }

    @Test("The sheet shows the same estimate of a passcode as the terminal") func estimateIsThatOfTheTerminal() throws {
        var model = SheetModel()
        let number = model.show(Self.request(.changePasscode), nil, now: 0)
        let sentence = PasscodeEstimate.sentence(on: Self.bytes("password1"))
        #expect(sentence.hasPrefix("Letters and digits: whoever has this disk and tries words, names, dates"), "\(sentence)")
        model.estimate(sentence, number)
        #expect(model.view(now: 0)?.newPasscode?.estimate == sentence)
        // For another prompt it is ignored.
        model.estimate("", number + 1)
        #expect(model.view(now: 0)?.newPasscode?.estimate == sentence)
    }

    @Test("A recovery key stays until the user has it, whatever happens meanwhile") func recoveryKeyStaysUntilTheUserHasIt() throws {
        var model = SheetModel()
        let prompt = model.show(Self.request(.makeRecoveryKey), nil, now: 0)
        _ = model.beginAnswer(prompt, withPasscode: true, now: 0)
        let number = model.showKey()
        let view = try #require(model.view(now: 0))
        #expect((view.application, view.wish, view.entry) == ("Your recovery key", "is shown only once", .hidden))
        // There is no button, and no key, that ends it by accident.
        #expect((view.cancel, view.fallback, view.confirm, view.recoveryKey) == (nil, nil, "Done", "I have written it down"))
        #expect(view.cautions.first?.text.contains("anyone who has it and this disk can read everything") == true)
        let isDismissed = model.dismissNotice(number)
        let isEndedByTheOther = model.endKey(prompt)
        #expect(!isDismissed && !isEndedByTheOther && model.isShowingKey(number))
        let isEnded = model.endKey(number)
        #expect(isEnded && model.view(now: 0) == nil)
    }
}
