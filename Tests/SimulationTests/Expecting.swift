import Enclave
import VaubanRefusal

// The operations of the model, and the comparison with the implementation's answers.

extension World {
    /// Performs the operation in the model, and compares the answers.
    mutating func expect(_ operation: Operation, arguments: Arguments, answers: Answers, tape: inout Tape) throws {
        var refused: Refused?
        do { try model.perform(operation, with: arguments, tape: &tape) } catch let refusal as Refused { refused = refusal }
        if !tape.comparisons.isEmpty { try ledger.compared(isRight: refused?.reason != .authenticationFailed, at: times.total) }
        if refused == nil, [.set, .remove, .erase, .eraseUnknown, .recover, .recoverEarlier].contains(operation) { ledger.wrong = 0 }
        try Self.compare(answers.whole, to: refused, when: "\(operation)")
        guard refused == nil || operation == .renewItems else { return }
        switch operation {
        case .add: try expectMade(answers)
        case .ask: try expectRead(answers, PresentedEvidence(passcode: true))
        case .showFinger: try expectRead(answers, PresentedEvidence(finger: true))
        case .renewItems: try takeRenewed(answers)
        default: break
        }
    }

    static func compare(_ refusal: Refusal?, to refused: Refused?, when what: @autoclosure () -> String) throws {
        guard refusal?.reason == refused?.reason else {
            let was = refusal.map { "refused: \($0.reason) (\($0.detail ?? ""))" } ?? "done"
            throw Difference("\(what()) was \(was); in the model \(refused.map { "refused: \($0.reason)" } ?? "done")")
        }
        guard let refusal, let refused else { return }
        if let tries = refused.attemptsLeft, refusal.attemptsLeft != tries {
            throw Difference("\(what()): \(refusal.attemptsLeft ?? -1) tries are left, in the model \(tries)")
        }
        if let wait = refused.secondsToWait, refusal.secondsToWait != wait {
            throw Difference("\(what()): \(refusal.secondsToWait ?? -1) s to wait, in the model \(wait)")
        }
    }

    private mutating func expectMade(_ answers: Answers) throws {
        for kind in Kind.allCases {
            var item: Item?
            var refused: Refused?
            do { item = try model.add(kind) } catch let refusal as Refused { refused = refusal }
            switch answers.made[kind] {
            case .success(let sealed):
                try Self.compare(nil, to: refused, when: "adding \(kind)")
                guard let item else { continue }
                rows[item] = sealed
                model.items.insert(item)
            case .failure(let refusal): try Self.compare(refusal, to: refused, when: "adding \(kind)")
            case nil: throw Difference("\(kind) was not added at all")
            }
        }
    }

    func expectRead(_ answers: Answers, _ shown: PresentedEvidence) throws {
        guard answers.read.count == rows.count else { throw Difference("not every row was read") }
        for (item, refusal) in answers.read {
            var refused: Refused?
            do { try model.read(item, shown) } catch let refusal as Refused { refused = refusal }
            try Self.compare(refusal, to: refused, when: "reading \(item.kind) of key \(item.classKey.number), shown \(shown)")
        }
    }

    /// Takes the rows that could be renewed, which the model determined before older keys were retired.
    private mutating func takeRenewed(_ answers: Answers) throws {
        for (item, answer) in answers.renewed {
            guard case .success(let sealed) = answer else {
                if model.renewed[item] != nil { throw Difference("\(item.kind) could not be brought under a newer key") }
                continue
            }
            guard let renewed = model.renewed.removeValue(forKey: item) else {
                throw Difference("\(item.kind) was brought under a newer key")
            }
            rows[item] = nil
            model.items.remove(item)
            rows[renewed] = sealed
            model.items.insert(renewed)
        }
        guard model.renewed.isEmpty else { throw Difference("rows were not brought under a newer key") }
    }
}

extension EnclaveModel {
    mutating func perform(_ operation: Operation, with given: Arguments, tape: inout Tape) throws {
        switch operation {
        case .set: try set(.first, recovery: 1, &tape)
        case .setWeak: throw Refused(.passcodeTooWeak)
        case .change: try change(from: given.right, to: given.other, rolls: false, &tape)
        case .changeWrong: try noting(&tape) { try $0.change(from: .wrong, to: given.other, rolls: false, &$1) }
        case .roll: try change(from: given.right, to: given.other, rolls: true, &tape)
        case .remove: try remove(given.right, &tape)
        case .erase: try erase(given.right, &tape)
        case .eraseUnknown: try erase(nil, &tape)
        case .unlock: try unlock(given.right, &tape)
        case .unlockWrong: try noting(&tape) { try $0.unlock(.wrong, &$1) }
        case .lock: try lockNow(&tape)
        case .add: try lease(&tape)
        case .ask:
            try authenticate(given.right, &tape)
            if !items.isEmpty { try applyExpirations(&tape) }
        case .askWrong: try noting(&tape) { try $0.authenticate(.wrong, &$1) }
        case .showFinger: try match(given.fingers, &tape)
        case .renewItems: try renew(&tape)
        case .recover: try recover(with: given.recovery, to: given.other, next: given.otherRecovery, &tape)
        case .recoverEarlier: try recover(with: given.earlierRecovery, to: given.other, next: given.otherRecovery, &tape)
        case .recoverWrong: try recover(with: 9, to: given.other, next: nil, &tape)
        case .newRecovery: try setRecovery(given.otherRecovery, passcode: given.right, tape: &tape)
        case .confirmRecovery: try confirmRecovery(given.recovery, &tape)
        case .noRecovery: try setRecovery(nil, passcode: given.right, tape: &tape)
        case .configure: try configure(given.settings, passcode: given.right, tape: &tape)
        case .enroll: try enroll(given.otherFingers, passcode: given.right, tape: &tape)
        case .forget: try forget(given.right, &tape)
        case .missFinger: try miss(&tape)
        case .otherFingers: try match(7, &tape)
        case .unlockByFinger: try unlockByFinger(given.fingers, &tape)
        }
    }

    private mutating func noting(_ tape: inout Tape, _ body: (inout Self, inout Tape) throws -> Void) throws {
        do { try body(&self, &tape) } catch let refusal as Refused where refusal.reason == .authenticationFailed {
            try note(&tape)
            throw refusal
        }
    }

    private mutating func renew(_ tape: inout Tape) throws {
        try lease(&tape)
        renewed = [:]
        var after = self
        for item in items {
            guard let newer = renewal(of: item) else { continue }
            renewed[item] = newer
            after.items.remove(item)
            after.items.insert(newer)
        }
        try retire(after.unneeded, &tape)
    }
}
