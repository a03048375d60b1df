// How each kind of question begins at fprintd, and what is said of what fprintd then says.

internal import EnclaveWire
internal import Logging
internal import VaubanLinuxHost
internal import VaubanUserModel

extension SensorWatch {
    mutating func begin(_ question: Question, _ owner: FprintBus.Owner, _ sensor: FprintBus.Sensor) throws(SystemError) {
        guard let name = names.name(of: question.user) else {
            // A directory that cannot be reached says the same as one that knows nobody: no word on the fingers follows from it.
            log.notice("user \(question.user) has no name here now")
            guard question.kind == .finger else {
                line.say(.notEnrolled, question.user, nonce: question.nonce, fingers: FingerDigest.none)
                return try finish(question)
            }
            return putOff(question, "the user's name cannot be had")
        }
        if question.kind == .list { return try list(question, owner, sensor, name) }
        switch try bus.call(owner, sensor, "Claim", name) {
        case .done: break
        case .inUse: return awaitFree(question)
        case .gone: return try goneAt(question)
        case .denied: return lose("polkit does not let this user claim the reader", again: ReaderLimits.lookPause)
        case .noPrints, .failed: return try refused(question)
        }
        active = Active(question: question, owner: owner, sensor: sensor, name: name)
        switch question.kind {
        case .finger: try beginFinger()
        case .enroll: try beginEnrollment()
        case .forget: try forget()
        case .list: break
        }
    }

    /// fprintd or the sensor went between two words: looked for once more, and given up where that helps nothing.
    private mutating func goneAt(_ question: Question) throws(SystemError) {
        putOff(question, "the reader is gone")
        if !questions.isEmpty { try look() }
    }

    // MARK: A finger

    private mutating func beginFinger() throws(SystemError) {
        guard let active else { return }
        let question = active.question
        let (answer, fingers) = try bus.fingers(active.owner, active.sensor, of: active.name)
        switch answer {
        case .done: break
        case .noPrints: return try noFingers(question)
        case .gone: return try goneAt(question)
        case .inUse, .denied, .failed:
            try stop()
            return putOff(question, "the reader does not say whose fingers it knows")
        }
        guard !fingers.isEmpty else { return try noFingers(question) }
        self.active?.fingers = FingerDigest.of(fingers, on: active.sensor.name, mark: try kept.mark(of: question.user))
        try startLooking()
    }

    private mutating func startLooking() throws(SystemError) {
        guard let active else { return }
        try forgetTouches()
        guard self.active?.question.nonce == active.question.nonce else { return }
        switch try bus.call(active.owner, active.sensor, "VerifyStart", "any") {
        // A touch may have been judged before this answer: its signal waits to be taken.
        case .done: self.active?.phase = .looking
        case .noPrints: try noFingers(active.question)
        case .gone: try goneAt(active.question)
        case .inUse, .denied, .failed:
            try stop()
            putOff(active.question, "the sensor does not begin")
        }
    }

    /// This user has no finger any more. That ends an enrollment, and is a finger that failed for the question that is open.
    private mutating func noFingers(_ question: Question) throws(SystemError) {
        switch question.kind {
        case .finger:
            line.say(.changed, question.user, nonce: FingerDigest.none, fingers: FingerDigest.none)
            line.say(.missed, question.user, nonce: question.nonce, fingers: FingerDigest.none)
        case .enroll, .forget: line.say(.notEnrolled, question.user, nonce: question.nonce, fingers: FingerDigest.none)
        case .list: line.name([], nonce: question.nonce)
        }
        try finish(question)
    }

    mutating func verified(_ text: String, isDone: Bool, _ active: Active) throws(SystemError) {
        let question = active.question
        switch text {
        case "verify-match":
            line.say(.matched, question.user, nonce: question.nonce, fingers: active.fingers)
            return try finish(question)
        case "verify-no-match":
            line.say(.missed, question.user, nonce: question.nonce, fingers: active.fingers)
            return try finish(question)
        case "verify-disconnected": return lose("the sensor was taken away", again: ReaderLimits.faultPause)
        default: break
        }
        if let hint = Self.hint(text) {
            line.hint(hint, nonce: question.nonce)
            if isDone { try lookAgain() }
            return
        }
        line.hint(.sensorError, nonce: question.nonce)
        log.notice("the sensor says \(text)")
        try stop()
        putOff(question, "the sensor fails")
    }

    private mutating func lookAgain() throws(SystemError) {
        guard let active else { return }
        _ = try bus.call(active.owner, active.sensor, "VerifyStop")
        self.active?.phase = .preparing
        try startLooking()
    }

    private static func hint(_ text: String) -> FingerHint? {
        guard let dash = text.firstIndex(of: "-") else { return nil }
        switch text[text.index(after: dash)...] {
        case "retry-scan": return .again
        case "swipe-too-short": return .tooShort
        case "finger-not-centered": return .notCentered
        case "remove-and-retry": return .liftAndTouch
        case "too-fast", "swipe-too-fast": return .tooFast
        default: return nil
        }
    }

    // MARK: Learning

    /// fprintd gives each finger a name. Which finger it really is nobody checks, so the next free name is taken.
    private static let fingerNames = ["index-finger", "thumb", "middle-finger", "ring-finger", "little-finger"]
        .flatMap { ["right-\($0)", "left-\($0)"] }

    private mutating func beginEnrollment() throws(SystemError) {
        guard let active else { return }
        let question = active.question
        let (answer, known) = try bus.fingers(active.owner, active.sensor, of: active.name)
        guard answer == .done || answer == .noPrints else { return try failEnrollment(question, "the list of fingers cannot be had") }
        guard let finger = Self.fingerNames.first(where: { !known.contains($0) }) else {
            line.hint(.full, nonce: question.nonce)
            return try failEnrollment(question, "all ten fingers are known")
        }
        // How many touches it takes fprintd says only while the sensor is claimed.
        let touches = try bus.sensor(active.owner).1?.touches ?? 0
        try forgetTouches()
        guard self.active?.question.nonce == question.nonce else { return }
        switch try bus.call(active.owner, active.sensor, "EnrollStart", finger, within: ReaderLimits.permissionMax) {
        case .done: break
        case .denied: return try failEnrollment(question, "polkit does not let this user enroll a finger")
        case .gone, .inUse, .noPrints, .failed: return try failEnrollment(question, "fprintd does not begin to learn a finger")
        }
        self.active?.phase = .learning(done: 0, total: touches)
        line.hint(.progress, nonce: question.nonce, done: 0, total: touches)
    }

    private mutating func failEnrollment(_ question: Question, _ why: String) throws(SystemError) {
        log.notice("no finger is learnt: \(why)")
        line.say(.notEnrolled, question.user, nonce: question.nonce, fingers: FingerDigest.none)
        try finish(question)
    }

    mutating func learned(_ text: String, isDone: Bool, _ active: Active, done: Int64, total: Int64) throws(SystemError) {
        let question = active.question
        switch text {
        case "enroll-completed": return try enrolled(active)
        case "enroll-stage-passed":
            self.active?.phase = .learning(done: done + 1, total: total)
            return line.hint(.progress, nonce: question.nonce, done: done + 1, total: total)
        case "enroll-duplicate": line.hint(.known, nonce: question.nonce)
        case "enroll-data-full": line.hint(.full, nonce: question.nonce)
        case "enroll-disconnected": return lose("the sensor was taken away", again: ReaderLimits.faultPause)
        default:
            if let hint = Self.hint(text), !isDone { return line.hint(hint, nonce: question.nonce, done: done, total: total) }
            line.hint(.sensorError, nonce: question.nonce)
        }
        try failEnrollment(question, text)
    }

    /// The list is another from here on, also where the new finger has an older one's name: so the mark is made anew first.
    private mutating func enrolled(_ active: Active) throws(SystemError) {
        let question = active.question
        _ = try bus.call(active.owner, active.sensor, "EnrollStop")
        self.active?.phase = .preparing
        let (answer, fingers) = try bus.fingers(active.owner, active.sensor, of: active.name)
        guard answer == .done, !fingers.isEmpty else { return try failEnrollment(question, "the list of fingers cannot be had") }
        let mark: [UInt8]
        do throws(SystemError) { mark = try kept.renew(question.user) } catch {
            return try failEnrollment(question, "\(error)")
        }
        line.say(.enrolled, question.user, nonce: question.nonce, fingers: FingerDigest.of(fingers, on: active.sensor.name, mark: mark))
        try finish(question)
    }

    /// Somebody else had fprintd learn a finger. Whose, nobody is told, so every enrollment ends: it may have taken the place of
    /// one that counts, under the same name.
    func foreignFinger() {
        log.warning("another program enrolled a finger: fingers do not count until they are enrolled anew with the passcode")
        uncounted(kept.people)
    }

    /// The fingers of these people are not the ones that count.
    func uncounted(_ people: some Sequence<UInt32>) {
        for user in people {
            let mark = (try? kept.renew(user)) ?? [UInt8](repeating: 0xFF, count: 32)
            line.say(.changed, user, nonce: FingerDigest.none, fingers: FingerDigest.of(["unknown"], on: "unknown", mark: mark))
        }
    }

    // MARK: Forgetting and naming

    private mutating func forget() throws(SystemError) {
        guard let active else { return }
        let question = active.question
        switch try bus.call(active.owner, active.sensor, "DeleteEnrolledFingers2", within: ReaderLimits.permissionMax) {
        case .done, .noPrints:
            // The mark alone counts for nothing, so it does not matter whether it could be removed.
            try? kept.removeMark(of: question.user)
            line.say(.enrolled, question.user, nonce: question.nonce, fingers: FingerDigest.none)
        case .gone, .inUse, .denied, .failed:
            log.notice("fprintd does not delete fingers")
            line.say(.notEnrolled, question.user, nonce: question.nonce, fingers: FingerDigest.none)
        }
        try finish(question)
    }

    private mutating func list(
        _ question: Question, _ owner: FprintBus.Owner, _ sensor: FprintBus.Sensor, _ name: String
    ) throws(SystemError) {
        let (answer, fingers) = try bus.fingers(owner, sensor, of: name)
        switch answer {
        case .done, .noPrints: line.name(fingers, nonce: question.nonce)
        // An answer of another kind: the enclave takes it for a fault.
        case .gone, .inUse, .denied, .failed: line.say(.notEnrolled, question.user, nonce: question.nonce, fingers: FingerDigest.none)
        }
        try finish(question)
    }
}
