// Turns the enclave's requests into calls of fprintd, and fprintd's signals into reports. The sensor serves one request at a time.

internal import EnclaveWire
internal import Logging
internal import VaubanLinuxHost
internal import VaubanUserModel

/// The lifetime of one bus connection, ended by the error that ends the connection.
struct SensorBusConnection {
    /// The request at the sensor, which is claimed for its user.
    struct Active {
        enum Phase {
            case preparing
            case verifying
            case enrolling(done: Int64, total: Int64)
        }

        let request: SensorRequest
        let owner: FprintBus.Owner
        let sensor: FprintBus.Sensor
        let name: String
        var fingers = FingerDigest.none
        var phase = Phase.preparing
    }

    var bus: FprintBus
    let queue: SensorRequestQueue
    let enclave: EnclaveConnection
    let store: ReaderState
    let names: UserNames
    let log: Logger
    let settings: ReaderSettings
    /// The trusted owner of fprintd's name, while it runs, and its sensor. Signals from other senders are ignored.
    private var owner: FprintBus.Owner?
    private(set) var sensor: FprintBus.Sensor?
    var requests = SensorRequestList()
    var active: Active?
    /// Signals that were received during another call and are handled after it.
    var deferredSignals: [FprintBus.Signal] = []
    /// The login manager that announced sleep, until the machine is awake.
    var sleepAnnouncer: FprintBus.Owner?
    /// A claim that cannot be released at fprintd before the machine is awake.
    var unreturned: Active?
    /// When to look for a sensor again; nil while there is one.
    var searchDue: UInt64?
    /// The time before which nothing is tried at the sensor.
    var tryDue: UInt64?

    init(
        _ settings: ReaderSettings, enclave: EnclaveConnection, queue: SensorRequestQueue, store: ReaderState, names: UserNames, log: Logger
    ) throws(SystemError) {
        bus = try FprintBus(address: settings.bus)
        self.settings = settings
        self.enclave = enclave
        self.queue = queue
        self.store = store
        self.names = names
        self.log = log
    }

    mutating func run() throws(SystemError) -> Never {
        try findSensor()
        while true {
            while let signal = try next() { try take(signal) }
            for order in queue.take() { try take(order) }
            let now = MachineClock.monotonic
            requests.removeOld(now: now)
            if let active, !requests.contains(active.request.nonce) { try endTurn(of: active) }
            if let active, let end = requests.turnEnd, end <= now { try endTurn(of: active) }
            if let due = searchDue, due <= now { try findSensor() }
            try advance(now)
            reportWait()
            // If the login manager that announced sleep has exited, its announcement is void, and a claim kept because of it is released.
            if deferredSignals.isEmpty, sleepAnnouncer == nil, unreturned != nil { try wake() }
            if deferredSignals.isEmpty { try bus.wait(pause, or: queue.number) }
        }
    }

    /// The time until something must be done; nil while only signals and requests matter.
    private var pause: UInt64? {
        let now = MachineClock.monotonic
        var dues = [searchDue, requests.isEmpty ? nil : tryDue, active == nil ? nil : requests.turnEnd].compactMap { $0 }
        // A request that is not cancelled ends by its own timeout.
        if !requests.isEmpty { dues.append(now + ReaderLimits.requestMax) }
        return dues.min().map { $0 > now ? $0 - now : 0 }
    }

    // MARK: The sensor

    /// Looks for fprintd and its sensor, and starts fprintd if it does not run. The request at the sensor starts over.
    mutating func findSensor() throws(SystemError) {
        searchDue = nil
        active = nil
        owner = nil
        sensor = nil
        // Start nothing while the machine sleeps. A running fprintd's signals about other programs' enrollments still count.
        if sleepAnnouncer != nil { return owner = try bus.owner().flatMap { $0.uid == settings.daemonUID ? $0 : nil } }
        if try bus.owner() == nil { _ = try bus.start() }
        guard let found = try bus.owner() else { return lose("fprintd does not run here", again: ReaderLimits.searchPause) }
        guard found.uid == settings.daemonUID else {
            return lose("fprintd's name belongs to user \(found.uid), who is not trusted", again: ReaderLimits.searchPause)
        }
        // From here on this fprintd's signals count, also the one about a sensor that is plugged in.
        owner = found
        let (answer, sensor) = try bus.sensor(found)
        if answer == .late { return lose("fprintd does not answer", again: ReaderLimits.faultPause) }
        guard answer == .done, let sensor else { return lose("fprintd has no sensor", again: ReaderLimits.searchPause) }
        // polkit may permit less to a user over SSH than to the user at the desktop.
        if try bus.fingers(found, sensor, of: "").0 == .denied {
            return lose("polkit does not let this user look for fingers", again: ReaderLimits.searchPause)
        }
        log.info("using fprintd", metadata: ["sensor": "\(sensor.name)"])
        self.sensor = sensor
        enclave.reportSensor(isThere: true)
    }

    /// Reports that there is no sensor until the next search, or until a signal if there is none planned. The enclave then ends every
    /// request.
    mutating func lose(_ why: String, again pause: UInt64?) {
        log.notice("there is no fingerprint reader: \(why)")
        active = nil
        sensor = nil
        searchDue = pause.map { MachineClock.monotonic + $0 }
        tryDue = nil
        requests.removeAll()
        enclave.reportSensor(isThere: false)
    }

    /// Handles a change of a name's owner. fprintd exits when no client has used it for a while. If the bus can start it again the sensor
    /// counts as available.
    private mutating func ownerChanged() throws(SystemError) {
        // Without the login manager that announced sleep, nothing announces that the machine is awake.
        if let sleepAnnouncer, try bus.loginManager() != sleepAnnouncer { return try wake() }
        let now = try bus.owner()
        if now == owner, now != nil { return }
        if now == nil, active == nil, sensor != nil, try bus.canStart() {
            owner = nil
            return
        }
        try findSensor()
    }

    // MARK: Signals and requests

    mutating func take(_ signal: FprintBus.Signal) throws(SystemError) {
        if case .ownerChanged = signal.kind { return try ownerChanged() }
        if case .sleep(let isBeginning) = signal.kind { return try sleep(isBeginning, signal) }
        guard let owner, signal.sender == owner.uniqueName else { return }
        switch signal.kind {
        case .ownerChanged, .sleep, .other: break
        case .sensorsChanged: try findSensor()
        case .verify(let text, let isDone):
            guard let active, case .verifying = active.phase, signal.path == active.sensor.path else { break }
            try handleVerificationStatus(text, isDone: isDone, active)
        case .enroll(let text, let isDone):
            if let active, case .enrolling(let done, let total) = active.phase, signal.path == active.sensor.path {
                try handleEnrollmentStatus(text, isDone: isDone, active, done: done, total: total)
            } else if text == "enroll-completed" {
                // An enrollment that was in progress when the machine went to sleep belongs to this user, although nothing could record it
                // then.
                if let claim = unreturned, case .enrolling = claim.phase, signal.path == claim.sensor.path {
                    invalidateMarks(of: [claim.request.user])
                } else {
                    handleForeignEnrollment()
                }
            }
        }
    }

    private mutating func take(_ order: SensorRequestQueue.Order) throws(SystemError) {
        switch order {
        case .connectionLost:
            requests.removeAll()
        case .notice(.cancel(let nonce)):
            requests.remove(nonce)
        case .notice(let notice):
            guard let request = SensorRequest(notice) else { return }
            // Without a sensor the enclave has been notified and has ended the request.
            guard sensor != nil else { return }
            requests.add(request)
            tryDue = nil
            // An enrollment runs to its end, or to that of its user's turn. A request for a finger is interrupted by one that precedes it.
            if let active, active.request.kind == .finger, requests.first?.nonce != active.request.nonce { try stop() }
        }
    }

    // MARK: Choosing a request

    private mutating func advance(_ now: UInt64) throws(SystemError) {
        if let due = tryDue {
            guard due <= now else { return }
            tryDue = nil
        }
        // Each pass ends a request, starts one at the sensor, or postpones all.
        while active == nil, tryDue == nil, sensor != nil, let request = requests.first {
            if owner == nil { try findSensor() }
            guard let owner, let sensor else { return }
            try begin(request, owner: owner, sensor: sensor)
        }
    }

    /// Postpones all requests for a moment. After several failures for one request, gives up the sensor.
    mutating func postpone(_ request: SensorRequest, because why: String) {
        var faults = 0
        requests.change(request.nonce) { request in
            request.faults += 1
            faults = request.faults
        }
        guard faults < ReaderLimits.faultsMax else { return lose(why, again: ReaderLimits.faultPause) }
        tryDue = MachineClock.monotonic + ReaderLimits.busyPause
    }

    /// Waits for a sensor that another program uses: fprintd does not announce when it is free.
    mutating func waitForSensor(_ request: SensorRequest) {
        if !request.reportedBusy {
            log.info("another program has the sensor")
            enclave.sendHint(.busy, nonce: request.nonce)
        }
        requests.change(request.nonce) { $0.reportedBusy = true }
        tryDue = MachineClock.monotonic + ReaderLimits.busyPause
    }

    /// Tells the users whose requests wait behind another user's that the sensor is in use.
    private mutating func reportWait() {
        guard let active else { return }
        for request in requests.waiting(behind: active.request.user) where !request.reportedBusy {
            enclave.sendHint(.busy, nonce: request.nonce)
            requests.change(request.nonce) { $0.reportedBusy = true }
        }
    }

    /// Stops the request at the sensor, and lets the other users come first.
    private mutating func endTurn(of active: Active) throws(SystemError) {
        requests.endTurn(of: active.request.user)
        try stop()
    }

    /// Stops the request at the sensor. It stays open unless it was cancelled.
    mutating func stop() throws(SystemError) {
        guard let active else { return }
        self.active = nil
        try giveBack(active)
    }

    /// Removes a request that was answered. With `endsTurn`, its user's turn ends too.
    mutating func finish(_ request: SensorRequest, endsTurn: Bool = true) throws(SystemError) {
        requests.remove(request.nonce)
        if endsTurn { requests.endTurn(of: request.user) }
        if active?.request.nonce == request.nonce { try stop() }
    }

    /// Drops signals from before this claim, which belong to other clients.
    mutating func forgetTouches() throws(SystemError) {
        while let signal = try next() {
            switch signal.kind {
            case .verify: continue
            // Another program's enrollment always counts, since no list shows it.
            case .enroll, .ownerChanged, .sensorsChanged, .sleep, .other: try take(signal)
            }
        }
    }
}
