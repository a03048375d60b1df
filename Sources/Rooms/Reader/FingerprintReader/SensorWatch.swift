// What the enclave asks, as calls to fprintd, and what fprintd says, as words for the enclave. One question is before the sensor
// at a time.

internal import EnclaveWire
internal import Logging
internal import VaubanLinuxHost
internal import VaubanUserModel

/// One life of a bus connection. It ends by the fault that ended the connection.
struct SensorWatch {
    /// The question that is before the sensor, which is claimed for its user.
    struct Active {
        enum Phase {
            case preparing
            case looking
            case learning(done: Int64, total: Int64)
        }

        let question: Question
        let owner: FprintBus.Owner
        let sensor: FprintBus.Sensor
        let name: String
        var fingers = FingerDigest.none
        var phase = Phase.preparing
    }

    var bus: FprintBus
    let desk: QuestionQueue
    let line: EnclaveConnectionThread
    let kept: ReaderState
    let names: UserNames
    let log: Logger
    let settings: ReaderSettings
    /// The believed owner of fprintd's name, while it runs, and its sensor; nobody else's signals count.
    private var owner: FprintBus.Owner?
    private(set) var sensor: FprintBus.Sensor?
    var questions = QuestionList()
    var active: Active?
    /// Signals that came in the middle of something else, and are taken after it.
    var heard: [FprintBus.Signal] = []
    /// The login manager that said that the machine goes to sleep, until it is awake.
    var sleepSaidBy: FprintBus.Owner?
    /// What fprintd cannot take back before the machine is awake.
    var unreturned: Active?
    /// When a sensor is looked for again; nil while there is one.
    var lookDue: UInt64?
    /// Until when nothing is tried at the sensor.
    private var tryDue: UInt64?

    init(
        _ settings: ReaderSettings, line: EnclaveConnectionThread, desk: QuestionQueue, kept: ReaderState, names: UserNames, log: Logger
    ) throws(SystemError) {
        bus = try FprintBus(address: settings.bus)
        self.settings = settings
        self.line = line
        self.desk = desk
        self.kept = kept
        self.names = names
        self.log = log
    }

    mutating func run() throws(SystemError) -> Never {
        try look()
        while true {
            while let signal = try next() { try take(signal) }
            for order in desk.take() { try take(order) }
            let now = MachineClock.monotonic
            questions.removeOld(now: now)
            if let active, !questions.contains(active.question.nonce) { try stop() }
            if let due = lookDue, due <= now { try look() }
            try advance(now)
            // A word of sleep whose login manager has gone is nobody's, and what was kept because of it is given back.
            if heard.isEmpty, sleepSaidBy == nil, unreturned != nil { try wake() }
            if heard.isEmpty { try bus.wait(pause, or: desk.number) }
        }
    }

    /// How long nothing needs to be done; nil while only a signal or the enclave brings something.
    private var pause: UInt64? {
        let now = MachineClock.monotonic
        var dues = [lookDue, questions.isEmpty ? nil : tryDue].compactMap { $0 }
        // A question that nobody took back ends by itself.
        if !questions.isEmpty { dues.append(now + ReaderLimits.questionMax) }
        return dues.min().map { $0 > now ? $0 - now : 0 }
    }

    // MARK: The sensor

    /// Looks who fprintd is and which sensor it has, and has it started where it does not run. What was before the sensor begins anew.
    mutating func look() throws(SystemError) {
        lookDue = nil
        active = nil
        owner = nil
        sensor = nil
        // A machine that sleeps starts nothing; what the fprintd that runs says of other programs' fingers still counts.
        if sleepSaidBy != nil { return owner = try bus.owner().flatMap { $0.uid == settings.daemonUID ? $0 : nil } }
        if try bus.owner() == nil { _ = try bus.start() }
        guard let found = try bus.owner() else { return lose("fprintd does not run here", again: ReaderLimits.lookPause) }
        guard found.uid == settings.daemonUID else {
            return lose("fprintd's name belongs to user \(found.uid), who is not believed", again: ReaderLimits.lookPause)
        }
        let (answer, sensor) = try bus.sensor(found)
        guard answer == .done, let sensor else { return lose("fprintd has no sensor", again: ReaderLimits.lookPause) }
        // What the user at the desktop may, and somebody over SSH may not.
        if try bus.fingers(found, sensor, of: "").0 == .denied {
            return lose("polkit does not let this user look for fingers", again: ReaderLimits.lookPause)
        }
        if self.owner != found { log.info("fprintd is asked", metadata: ["sensor": "\(sensor.name)"]) }
        owner = found
        self.sensor = sensor
        line.tellSensor(isThere: true)
    }

    /// There is no sensor until the next look, or where none is to come until something is heard; the enclave ends every question then.
    mutating func lose(_ why: String, again pause: UInt64?) {
        log.notice("there is no fingerprint reader: \(why)")
        active = nil
        sensor = nil
        lookDue = pause.map { MachineClock.monotonic + $0 }
        tryDue = nil
        questions.removeAll()
        line.tellSensor(isThere: false)
    }

    /// fprintd ends by itself when nobody has used it for a while. Where the bus starts it again the sensor counts as there.
    private mutating func ownerChanged() throws(SystemError) {
        // Nobody says any more when the machine is awake.
        if let sleepSaidBy, try bus.loginManager() != sleepSaidBy { return try wake() }
        let now = try bus.owner()
        if now == owner, now != nil { return }
        if now == nil, active == nil, sensor != nil, try bus.canStart() {
            owner = nil
            return
        }
        try look()
    }

    // MARK: What comes

    mutating func take(_ signal: FprintBus.Signal) throws(SystemError) {
        if case .ownerChanged = signal.kind { return try ownerChanged() }
        if case .sleep(let isBeginning) = signal.kind { return try sleep(isBeginning, signal) }
        guard let owner, signal.sender == owner.uniqueName else { return }
        switch signal.kind {
        case .ownerChanged, .sleep, .other: break
        case .sensorsChanged: try look()
        case .verify(let text, let isDone):
            if let active, case .looking = active.phase, signal.path == active.sensor.path { try verified(text, isDone: isDone, active) }
        case .enroll(let text, let isDone):
            if let active, case .learning(let done, let total) = active.phase, signal.path == active.sensor.path {
                try learned(text, isDone: isDone, active, done: done, total: total)
            } else if text == "enroll-completed" {
                // What was being learnt when the machine went to sleep is this user's, though nobody was there to keep it.
                if let claim = unreturned, case .learning = claim.phase, signal.path == claim.sensor.path {
                    uncounted([claim.question.user])
                } else {
                    foreignFinger()
                }
            }
        }
    }

    private mutating func take(_ order: QuestionQueue.Order) throws(SystemError) {
        switch order {
        case .lineLost:
            questions.removeAll()
        case .notice(.cancel(let nonce)):
            questions.remove(nonce)
        case .notice(let notice):
            guard let question = Question(notice) else { return }
            // Without a sensor the enclave has been told so, and has ended it.
            guard sensor != nil else { return }
            questions.add(question)
            tryDue = nil
            // A finger that is being learnt is learnt to its end; a question that waits for a finger gives way.
            if let active, active.question.kind == .finger { try stop() }
        }
    }

    // MARK: Before the sensor

    private mutating func advance(_ now: UInt64) throws(SystemError) {
        if let due = tryDue {
            guard due <= now else { return }
            tryDue = nil
        }
        // Each turn ends a question, puts one before the sensor, or puts all of it off.
        while active == nil, tryDue == nil, sensor != nil, let question = questions.first {
            if owner == nil { try look() }
            guard let owner, let sensor else { return }
            try begin(question, owner, sensor)
        }
    }

    /// Puts off everything for a moment, and gives the sensor up where that was so several times for one question.
    mutating func putOff(_ question: Question, _ why: String) {
        var faults = 0
        questions.change(question.nonce) { question in
            question.faults += 1
            faults = question.faults
        }
        guard faults < ReaderLimits.faultsMax else { return lose(why, again: ReaderLimits.faultPause) }
        tryDue = MachineClock.monotonic + ReaderLimits.busyPause
    }

    /// Another program has the sensor: fprintd does not say when it is free.
    mutating func awaitFree(_ question: Question) {
        if !question.saidBusy {
            log.info("another program has the sensor")
            line.hint(.busy, nonce: question.nonce)
        }
        questions.change(question.nonce) { $0.saidBusy = true }
        tryDue = MachineClock.monotonic + ReaderLimits.busyPause
    }

    /// Takes what is before the sensor away from it. It stays open, if it was not removed.
    mutating func stop() throws(SystemError) {
        guard let active else { return }
        self.active = nil
        try giveBack(active)
    }

    /// Removes a question that was answered.
    mutating func finish(_ question: Question) throws(SystemError) {
        questions.remove(question.nonce)
        if active?.question.nonce == question.nonce { try stop() }
    }

    /// What other clients of fprintd were told before this one's claim is not about this question.
    mutating func forgetTouches() throws(SystemError) {
        while let signal = try next() {
            switch signal.kind {
            case .verify: continue
            // Another program that learns a finger meanwhile is heard in any case: no list shows it.
            case .enroll, .ownerChanged, .sensorsChanged, .sleep, .other: try take(signal)
            }
        }
    }
}
