internal import VaubanAccessPolicy
internal import VaubanAuthenticationClient
internal import VaubanPasscodeEstimate
package import VaubanSecretBytes
package import VaubanUserModel

/// The sheet's state: which prompt it shows, and the progress of the answer. Each change comes from the user, from authd, or from the
/// clock; the view follows from the state alone.
package struct SheetModel: Sendable {
    package init() {}

    private enum State: Sendable {
        case nothing
        /// The user can answer.
        case prompting(Card)
        /// An answer was given and is being checked.
        case checking(Card)
        /// A recovery key is on the screen until the user has written it down.
        case showingKey(Int)
        /// No passcode is accepted for a while, and the user must see for how long.
        case lockedOut(LockOut)
        /// No prompt can appear here any longer, and the user must see the reason.
        case broken(Broken)
    }

    /// One prompt and its progress.
    private struct Card: Sendable {
        let number: Int
        var misses = 0
        var rejections = 0
        var estimate = ""
        var request: PromptRequest
        var entry: ApplicationDirectory.Entry?
        var finger: SheetView.Finger
        var notice: SheetView.Notice?
        /// The user chose to type although a fingerprint would do.
        var typesInstead = false
        /// When a passcode is accepted again, on the boot clock in nanoseconds; 0 for at once.
        var closedUntil: UInt64
    }

    private struct LockOut: Sendable {
        let number: Int
        let until: UInt64
    }

    private struct Broken: Sendable {
        let number: Int
        let message: String
    }

    private var state = State.nothing
    private var number = 0
    private static let second: UInt64 = 1_000_000_000

    private var card: Card? {
        switch state {
        case .prompting(let card), .checking(let card): card
        case .nothing, .showingKey, .lockedOut, .broken: nil
        }
    }

    /// Returns whether this prompt is on the screen, in any form.
    package func isShowing(_ prompt: [UInt8]) -> Bool { card?.request.prompt == prompt }

    /// Shows a prompt, or a new form of it with the same caller. Returns the number by which answers refer to it.
    package mutating func show(_ request: PromptRequest, _ entry: ApplicationDirectory.Entry?, now: UInt64) -> Int {
        let closedUntil = request.state.secondsToWait > 0 ? now + UInt64(request.state.secondsToWait) * Self.second : 0
        var notice: SheetView.Notice?
        var finger: SheetView.Finger =
            request.methods.contains(.finger) ? .waiting : request.state.finger == .disabled ? .disabled : .hidden
        var (misses, typesInstead) = (0, false)
        var entry = entry
        if let before = card, before.request.prompt == request.prompt { entry = before.entry }
        switch state {
        case .prompting(let before) where before.request.prompt == request.prompt:
            (number, misses, typesInstead) = (before.number, before.misses, before.typesInstead)
            if request.attempt > before.request.attempt, finger == .waiting {
                finger = .tryAgain
                notice = .init(text: PromptWords.wrongFinger(request.state.fingersLeft), isError: true)
            }
        case .checking(let before) where before.request.prompt == request.prompt:
            (number, misses, typesInstead) = (before.number, before.misses, before.typesInstead)
            // A fingerprint that missed in the meantime counts as another attempt too; only a checked passcode costs an attempt.
            if request.attemptsLeft < before.request.attemptsLeft {
                misses += 1
                notice = .init(text: PromptWords.wrongPasscode(request), isError: true)
            }
        default:
            number += 1
            notice = PromptWords.openingNotice(request).map { .init(text: $0, isError: false) }
        }
        if finger == .disabled, notice == nil { notice = .init(text: PromptWords.disabled(request.state.fingersLeft), isError: false) }
        state = .prompting(
            Card(
                number: number, misses: misses, request: request, entry: entry, finger: finger, notice: notice,
                typesInstead: typesInstead,
                closedUntil: closedUntil))
        return number
    }

    /// Records an event at the fingerprint reader.
    package mutating func record(_ update: PromptUpdate) {
        change { card in
            switch update.change {
            case .tryAgain:
                card.finger = .tryAgain
                card.notice = .init(text: PromptWords.wrongFinger(update.fingersLeft), isError: true)
            case .hint:
                card.finger = .tryAgain
                card.notice = .init(text: PromptWords.hint(update.hint ?? .again), isError: true)
            case .matched:
                card.finger = .matched
                card.notice = .init(text: PromptWords.matched, isError: false)
            case .disabled:
                card.finger = .disabled
                card.notice = .init(text: PromptWords.disabled(update.fingersLeft), isError: true)
            case .readerGone:
                card.finger = .hidden
                card.notice = .init(text: PromptWords.readerGone, isError: true)
            }
        }
    }

    /// Records an answer; returns whether the prompt can be answered now. From then on the answer is being checked.
    package mutating func beginAnswer(_ number: Int, withPasscode: Bool, now: UInt64) -> Bool {
        guard case .prompting(let card) = state, card.number == number else { return false }
        if withPasscode {
            guard card.request.methods.contains(.passcode), card.closedUntil <= now else { return false }
        }
        state = .checking(card)
        return true
    }

    /// The message for a passcode with more bytes than can be sealed.
    private static let tooLong = "The passcode is too long."

    /// Returns whether a new passcode, which was typed twice, can be sent. If not, records why, and that it must be typed again.
    package mutating func accepts(
        new: borrowing SecretBytes, repeated: borrowing SecretBytes, _ number: Int
    ) -> Bool {
        guard case .prompting(var card) = state, card.number == number, card.request.change == .changePasscode else { return false }
        let why: String? =
            if !new.equals(repeated) {
                PasscodeEstimate.differ
            } else if new.count > SealedPasscode.passcodeBytesMax {
                Self.tooLong
            } else {
                PasscodeEstimate.weakness(of: new)
            }
        guard let why else { return true }
        card.rejections += 1
        card.estimate = ""
        card.notice = .init(text: why, isError: true)
        state = .prompting(card)
        return false
    }

    /// Records what the new passcode that is typed would cost to guess; empty while it is being typed.
    package mutating func estimate(_ sentence: String, _ number: Int) {
        guard case .prompting(var card) = state, card.number == number, card.request.change == .changePasscode else { return }
        card.estimate = sentence
        state = .prompting(card)
    }

    /// Records that something was typed into the prompt that may have been meant for another window.
    package mutating func ignoreTyping(_ number: Int) {
        guard case .prompting(var card) = state, card.number == number else { return }
        card.notice = .init(text: PromptWords.typingIgnored, isError: true)
        state = .prompting(card)
    }

    /// Shows a recovery key in place of the prompt that made it. Returns the number by which its end refers to it.
    package mutating func showKey() -> Int {
        number += 1
        state = .showingKey(number)
        return number
    }

    package func isShowingKey(_ number: Int) -> Bool {
        guard case .showingKey(number) = state else { return false }
        return true
    }

    /// Records that the user has the recovery key.
    package mutating func endKey(_ number: Int) -> Bool {
        guard isShowingKey(number) else { return false }
        state = .nothing
        return true
    }

    package enum Fallback { case answer, entry, none }

    /// Returns what the second button does now: the caller's fallback, or, if a passcode is accepted, the entry for it.
    package mutating func fallBack(_ number: Int) -> Fallback {
        guard case .prompting(var card) = state, card.number == number, Self.fallback(of: card) != nil else { return .none }
        if card.request.offersFallback { return .answer }
        card.typesInstead = true
        state = .prompting(card)
        return .entry
    }

    private static func fallback(of card: Card) -> String? {
        if showsEntry(card) || card.request.titles.fallback == "" { return nil }
        return PromptWords.fallback(card.request)
    }

    /// Returns whether to show the entry. If a fingerprint can be used, it appears only on request.
    private static func showsEntry(_ card: Card) -> Bool {
        guard card.request.methods.contains(.passcode) else { return false }
        let awaitsFinger = card.finger == .waiting || card.finger == .tryAgain || card.finger == .matched
        return card.typesInstead || !awaitsFinger
    }

    /// Returns whether the prompt offers this choice.
    package func offers(_ choice: ConsentChoice, _ number: Int) -> Bool {
        guard case .prompting(let card) = state, card.number == number else { return false }
        return card.request.consent?.choices.contains(choice) ?? false
    }

    package mutating func removePrompt() {
        if case .broken = state { return }
        state = .nothing
    }

    /// Records that a prompt ended with one wrong passcode too many.
    package mutating func lockOut(seconds: Int64, now: UInt64) {
        guard seconds > 0, case .nothing = state else { return }
        number += 1
        state = .lockedOut(LockOut(number: number, until: now + UInt64(seconds) * Self.second))
    }

    /// Records that the user has read a notice that needs no answer.
    package mutating func dismissNotice(_ number: Int) -> Bool {
        switch state {
        case .broken(let broken) where broken.number == number: break
        case .lockedOut(let lockOut) where lockOut.number == number: break
        default: return false
        }
        state = .nothing
        return true
    }

    package mutating func fail(_ message: String) {
        number += 1
        state = .broken(Broken(number: number, message: message))
    }

    private mutating func change(_ body: (inout Card) -> Void) {
        switch state {
        case .prompting(var card):
            body(&card)
            state = .prompting(card)
        case .checking(var card):
            body(&card)
            state = .checking(card)
        case .nothing, .showingKey, .lockedOut, .broken: break
        }
    }

    package func view(now: UInt64) -> SheetView? {
        switch state {
        case .nothing: nil
        case .prompting(let card): Self.view(of: card, isChecked: false, now)
        case .checking(let card): Self.view(of: card, isChecked: true, now)
        case .showingKey(let number): Self.keyView(number)
        case .lockedOut(let lockOut): Self.view(of: lockOut, now)
        case .broken(let broken):
            Self.statement(
                broken.number, of: PromptWords.unavailable.subject, that: PromptWords.unavailable.statement, warning: broken.message)
        }
    }

    private static func view(of card: Card, isChecked: Bool, _ now: UInt64) -> SheetView {
        let request = card.request
        let showsEntry = showsEntry(card)
        let wait = countdown(until: card.closedUntil, now)
        var notice = card.notice
        if let wait, showsEntry { notice = .init(text: PromptWords.wait(wait.seconds), isError: true) }
        if isChecked { notice = .init(text: PromptWords.checking, isError: false) }
        let choices = request.consent?.choices ?? []
        return SheetView(
            request: card.number, misses: card.misses, rejections: card.rejections,
            application: card.entry?.name ?? PromptWords.name(of: request.caller),
            icon: card.entry?.icon,
            wish: "wants \(PromptWords.action(request))", origin: PromptWords.origin(of: request.caller),
            reason: PromptWords.reason(request),
            cautions: PromptWords.cautions(request.caller).map { .init(text: $0.text, isWarning: $0.isWarning) },
            itemDetails: (request.consent.map(PromptWords.itemDetails) ?? []).map { .init(label: $0.label, text: $0.text) },
            finger: card.finger, instruction: PromptWords.instruction(request, showsEntry: showsEntry),
            entry: !showsEntry ? .hidden : isChecked || wait != nil || card.finger == .matched ? .closed : .open,
            entryName: request.change == .changePasscode ? PromptWords.currentPasscode : PromptWords.passcodeEntry,
            newPasscode: showsEntry && request.change == .changePasscode
                ? .init(name: PromptWords.newPasscode, repetition: PromptWords.repeatedPasscode, estimate: card.estimate) : nil,
            recoveryKey: nil, notice: notice,
            choices: showsEntry && choices.count > 1
                ? choices.map { .init(number: Int($0.rawValue), title: PromptWords.choice($0, of: request)) } : [],
            cancel: PromptWords.cancel(request), fallback: fallback(of: card),
            confirm: showsEntry ? PromptWords.confirm(request) : nil,
            secondsToNext: wait?.next)
    }

    private static func view(of lockOut: LockOut, _ now: UInt64) -> SheetView? {
        guard let (seconds, next) = countdown(until: lockOut.until, now) else { return nil }
        return statement(
            lockOut.number, of: PromptWords.lockedOut.subject, that: PromptWords.lockedOut.statement,
            notice: PromptWords.wait(seconds), secondsToNext: next)
    }

    /// Returns a notice that needs no answer.
    private static func statement(
        _ number: Int, of subject: String, that words: String, warning: String? = nil, notice: String? = nil, secondsToNext: Double? = nil
    ) -> SheetView {
        SheetView(
            request: number, misses: 0, rejections: 0, application: subject, icon: "dialog-password", wish: words, origin: "", reason: nil,
            cautions: warning.map { [.init(text: $0, isWarning: true)] } ?? [], itemDetails: [], finger: .hidden, instruction: "",
            entry: .hidden, entryName: PromptWords.passcodeEntry, newPasscode: nil, recoveryKey: nil,
            notice: notice.map { .init(text: $0, isError: true) }, choices: [], cancel: PromptWords.close, fallback: nil, confirm: nil,
            secondsToNext: secondsToNext)
    }

    private static func keyView(_ number: Int) -> SheetView {
        let words = PromptWords.recoveryKey
        return SheetView(
            request: number, misses: 0, rejections: 0, application: words.subject, icon: "dialog-password", wish: words.statement,
            origin: "",
            reason: nil, cautions: [.init(text: words.advice, isWarning: false)], itemDetails: [], finger: .hidden, instruction: "",
            entry: .hidden, entryName: PromptWords.passcodeEntry, newPasscode: nil, recoveryKey: words.written, notice: nil, choices: [],
            cancel: nil, fallback: nil, confirm: words.done, secondsToNext: nil)
    }

    /// Returns the seconds left, rounded up so that the last one shows as 1, and the time until the next; nil for none.
    private static func countdown(until end: UInt64, _ now: UInt64) -> (seconds: Int64, next: Double)? {
        guard end > now else { return nil }
        let seconds = (end - now + second - 1) / second
        return (Int64(seconds), Double(end - now - (seconds - 1) * second) / Double(second))
    }
}
