internal import VaubanAccessPolicy
package import VaubanUserModel

/// The sheet as a state: what is asked and how far the answer is. Each change comes from the user, from authd, or from
/// the clock; what is to be seen follows from it alone.
package struct SheetModel: Sendable {
    package init() {}

    private enum State: Sendable {
        case nothing
        /// The user can answer.
        case asking(Card)
        /// An answer was given, and what came of it is awaited.
        case judging(Card)
        /// No passcode is taken for a while, and the user has to know how long.
        case lockedOut(LockOut)
        /// Nothing can be asked here any more, and the user has to know why.
        case broken(Broken)
    }

    /// One question and what has happened to it.
    private struct Card: Sendable {
        let number: Int
        var misses = 0
        var question: PromptQuestion
        var entry: ApplicationDirectory.Entry?
        var finger: SheetView.Finger
        var notice: SheetView.Notice?
        /// The user wants to type, although a finger would do.
        var typesInstead = false
        /// When a passcode is taken again, on the boot clock in nanoseconds; 0: at once.
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
        case .asking(let card), .judging(let card): card
        case .nothing, .lockedOut, .broken: nil
        }
    }

    /// Whether this is the question that is on the screen, in whichever form.
    package func isShowing(_ prompt: [UInt8]) -> Bool { card?.question.prompt == prompt }

    /// A question comes, or comes anew in another form; who asks stays who it was. Answers the number by which answers name it.
    package mutating func asked(_ question: PromptQuestion, _ entry: ApplicationDirectory.Entry?, now: UInt64) -> Int {
        let closedUntil = question.state.secondsToWait > 0 ? now + UInt64(question.state.secondsToWait) * Self.second : 0
        var notice: SheetView.Notice?
        var finger: SheetView.Finger = question.ways.contains(.finger) ? .waiting : question.state.finger == .disabled ? .disabled : .hidden
        var (misses, typesInstead) = (0, false)
        var entry = entry
        if let before = card, before.question.prompt == question.prompt { entry = before.entry }
        switch state {
        case .asking(let before) where before.question.prompt == question.prompt:
            (number, misses, typesInstead) = (before.number, before.misses, before.typesInstead)
            if question.attempt > before.question.attempt, finger == .waiting {
                finger = .tryAgain
                notice = .init(text: PromptWords.wrongFinger(question.state.fingersLeft), isError: true)
            }
        case .judging(let before) where before.question.prompt == question.prompt:
            (number, misses, typesInstead) = (before.number, before.misses, before.typesInstead)
            // A finger that missed meanwhile comes as another attempt too; only a passcode that was compared costs a try.
            if question.triesLeft < before.question.triesLeft {
                misses += 1
                notice = .init(text: PromptWords.wrongPasscode(question), isError: true)
            }
        default:
            number += 1
            // Someone else may have used up tries: then it is told before the first one here.
            if question.ways.contains(.passcode), question.operation != .applicationPassword, question.triesLeft <= 2, closedUntil == 0 {
                notice = .init(text: PromptWords.tries(question.triesLeft), isError: false)
            }
        }
        if finger == .disabled, notice == nil { notice = .init(text: PromptWords.disabled(question.state.fingersLeft), isError: false) }
        state = .asking(
            Card(
                number: number, misses: misses, question: question, entry: entry, finger: finger, notice: notice,
                typesInstead: typesInstead,
                closedUntil: closedUntil))
        return number
    }

    /// Something happened at the reader.
    package mutating func happened(_ update: PromptUpdate) {
        change { card in
            switch update.news {
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

    /// The user answers: whether this question can be answered now. From then on it is judged.
    package mutating func answers(_ number: Int, withPasscode: Bool, now: UInt64) -> Bool {
        guard case .asking(let card) = state, card.number == number else { return false }
        if withPasscode {
            guard card.question.ways.contains(.passcode), card.closedUntil <= now else { return false }
        }
        state = .judging(card)
        return true
    }

    package enum Fallback { case answer, entry, none }

    /// What the second button does now: the caller's own way out, or, where the passcode is a way here, the entry for it.
    package mutating func fellBack(_ number: Int) -> Fallback {
        guard case .asking(var card) = state, card.number == number, Self.fallback(of: card) != nil else { return .none }
        if card.question.offersFallback { return .answer }
        card.typesInstead = true
        state = .asking(card)
        return .entry
    }

    private static func fallback(of card: Card) -> String? {
        if showsEntry(card) || card.question.titles.fallback == "" { return nil }
        return PromptWords.fallback(card.question)
    }

    /// A finger comes first where there is one to come: the entry appears when it is wanted, or when no finger counts.
    private static func showsEntry(_ card: Card) -> Bool {
        guard card.question.ways.contains(.passcode) else { return false }
        let awaitsFinger = card.finger == .waiting || card.finger == .tryAgain || card.finger == .matched
        return card.typesInstead || !awaitsFinger
    }

    /// Whether a choice is one of those that the question offers.
    package func offers(_ choice: ConsentChoice, _ number: Int) -> Bool {
        guard case .asking(let card) = state, card.number == number else { return false }
        return card.question.consent?.offered.contains(choice) ?? false
    }

    package mutating func settled() {
        if case .broken = state { return }
        state = .nothing
    }

    /// A question ended by one wrong passcode too many.
    package mutating func lockedOut(seconds: Int64, now: UInt64) {
        guard seconds > 0, case .nothing = state else { return }
        number += 1
        state = .lockedOut(LockOut(number: number, until: now + UInt64(seconds) * Self.second))
    }

    /// The user has read what there is no answer to.
    package mutating func dismissed(_ number: Int) -> Bool {
        switch state {
        case .broken(let broken) where broken.number == number: break
        case .lockedOut(let lockOut) where lockOut.number == number: break
        default: return false
        }
        state = .nothing
        return true
    }

    package mutating func broke(_ message: String) {
        number += 1
        state = .broken(Broken(number: number, message: message))
    }

    private mutating func change(_ body: (inout Card) -> Void) {
        switch state {
        case .asking(var card):
            body(&card)
            state = .asking(card)
        case .judging(var card):
            body(&card)
            state = .judging(card)
        case .nothing, .lockedOut, .broken: break
        }
    }

    package func view(now: UInt64) -> SheetView? {
        switch state {
        case .nothing: nil
        case .asking(let card): Self.view(of: card, isJudged: false, now)
        case .judging(let card): Self.view(of: card, isJudged: true, now)
        case .lockedOut(let lockOut): Self.view(of: lockOut, now)
        case .broken(let broken): Self.statement(broken.number, of: "Vauban", that: "cannot ask you anything here", warning: broken.message)
        }
    }

    private static func view(of card: Card, isJudged: Bool, _ now: UInt64) -> SheetView {
        let question = card.question
        let showsEntry = showsEntry(card)
        let wait = countdown(until: card.closedUntil, now)
        var notice = card.notice
        if let wait, showsEntry { notice = .init(text: PromptWords.wait(wait.seconds), isError: true) }
        if isJudged { notice = .init(text: PromptWords.checking, isError: false) }
        let choices = ConsentChoice.allCases.filter { question.consent?.offered.contains($0) ?? false }
        return SheetView(
            question: card.number, misses: card.misses, application: PromptWords.name(of: question.caller, card.entry),
            icon: card.entry?.icon,
            wish: PromptWords.wish(question), origin: PromptWords.origin(of: question.caller), reason: PromptWords.reason(question),
            cautions: PromptWords.cautions(question.caller), particulars: question.consent.map(PromptWords.particulars) ?? [],
            finger: card.finger, instruction: PromptWords.instruction(question, showsEntry: showsEntry),
            entry: !showsEntry ? .hidden : isJudged || wait != nil || card.finger == .matched ? .closed : .open, notice: notice,
            choices: showsEntry && choices.count > 1 ? choices.map { .init(number: Int($0.rawValue), title: PromptWords.choice($0)) } : [],
            cancel: PromptWords.cancel(question), fallback: fallback(of: card),
            confirm: showsEntry ? PromptWords.confirm(question) : nil,
            secondsToNext: wait?.next)
    }

    private static func view(of lockOut: LockOut, _ now: UInt64) -> SheetView? {
        guard let (seconds, next) = countdown(until: lockOut.until, now) else { return nil }
        return statement(
            lockOut.number, of: "Too many wrong passcodes", that: "so that nobody can guess yours, none is taken for a while",
            notice: PromptWords.wait(seconds), secondsToNext: next)
    }

    /// Something to be read, and nothing to be answered.
    private static func statement(
        _ number: Int, of subject: String, that words: String, warning: String? = nil, notice: String? = nil, secondsToNext: Double? = nil
    ) -> SheetView {
        SheetView(
            question: number, misses: 0, application: subject, icon: "dialog-password", wish: words, origin: "", reason: nil,
            cautions: warning.map { [.init(text: $0, isWarning: true)] } ?? [], particulars: [], finger: .hidden, instruction: "",
            entry: .hidden,
            notice: notice.map { .init(text: $0, isError: true) }, choices: [], cancel: "Close", fallback: nil, confirm: nil,
            secondsToNext: secondsToNext)
    }

    /// Whole seconds that are left, counted up so that the last one is shown as one, and the time until the next is; nil: none.
    private static func countdown(until end: UInt64, _ now: UInt64) -> (seconds: Int64, next: Double)? {
        guard end > now else { return nil }
        let seconds = (end - now + second - 1) / second
        return (Int64(seconds), Double(end - now - (seconds - 1) * second) / Double(second))
    }
}
