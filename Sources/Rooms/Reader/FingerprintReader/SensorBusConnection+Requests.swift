// Starts each kind of request at fprintd, and reports what fprintd answers.

internal import EnclaveWire
internal import Logging
internal import VaubanLinuxHost
internal import VaubanUserModel

extension SensorBusConnection {
    mutating func begin(_ request: SensorRequest, owner: FprintBus.Owner, sensor: FprintBus.Sensor) throws(SystemError) {
        guard let name = names.name(of: request.user) else {
            // An unreachable name service cannot be distinguished from one without this user, so this says nothing about the fingers.
            log.notice("user \(request.user) has no name here now")
            guard request.kind == .finger else {
                enclave.sendVerdict(.notEnrolled, of: request.user, nonce: request.nonce, fingers: FingerDigest.none)
                return try finish(request)
            }
            return postpone(request, because: "the user's name is not available")
        }
        if request.kind == .list { return try list(request, owner: owner, sensor: sensor, name: name) }
        switch try bus.call(owner, sensor: sensor, method: "Claim", text: name) {
        case .done: break
        case .inUse: return waitForSensor(request)
        case .gone: return try handleDisappearance(during: request)
        case .denied: return lose("polkit does not let this user claim the reader", again: ReaderLimits.searchPause)
        case .noPrints, .failed: return try handleRefusal(of: request)
        case .late:
            try abandon(Active(request: request, owner: owner, sensor: sensor, name: name))
            return postpone(request, because: "fprintd does not answer")
        }
        active = Active(request: request, owner: owner, sensor: sensor, name: name)
        requests.beginTurn(of: request.user, now: MachineClock.monotonic)
        requests.change(request.nonce) { $0.reportedBusy = false }
        switch request.kind {
        case .finger: try beginFinger()
        case .enroll: try beginEnrollment()
        case .forget: try forget()
        case .list: break
        }
    }

    /// Handles fprintd or the sensor disappearing between two calls: looks for the sensor once more, and gives up if that does not help.
    private mutating func handleDisappearance(during request: SensorRequest) throws(SystemError) {
        postpone(request, because: "the reader is gone")
        if !requests.isEmpty { try findSensor() }
    }

    // MARK: A finger

    private mutating func beginFinger() throws(SystemError) {
        guard let active else { return }
        let request = active.request
        let (answer, fingers) = try bus.fingers(active.owner, active.sensor, of: active.name)
        switch answer {
        case .done: break
        case .noPrints: return try handleMissingFingers(for: request)
        case .gone: return try handleDisappearance(during: request)
        case .inUse, .denied, .late, .failed:
            try stop()
            return postpone(request, because: "the reader does not list its fingers")
        }
        guard !fingers.isEmpty else { return try handleMissingFingers(for: request) }
        self.active?.fingers = FingerDigest.of(fingers, on: active.sensor.name, mark: try store.mark(of: request.user))
        try startVerification()
        guard let started = self.active, case .verifying = started.phase, request.reportedBusy else { return }
        log.info("user \(request.user) has the sensor now")
        enclave.sendHint(.liftAndTouch, nonce: request.nonce)
    }

    private mutating func startVerification() throws(SystemError) {
        guard let active else { return }
        try forgetTouches()
        guard self.active?.request.nonce == active.request.nonce else { return }
        switch try bus.call(active.owner, sensor: active.sensor, method: "VerifyStart", text: "any") {
        // fprintd may have judged a touch before this reply; its signal is already waiting.
        case .done: self.active?.phase = .verifying
        case .noPrints: try handleMissingFingers(for: active.request)
        case .gone: try handleDisappearance(during: active.request)
        case .inUse, .denied, .late, .failed:
            try stop()
            postpone(active.request, because: "the sensor does not start")
        }
    }

    /// Handles a user without any enrolled finger: that ends an enrollment, and counts as a miss for the open request.
    private mutating func handleMissingFingers(for request: SensorRequest) throws(SystemError) {
        switch request.kind {
        case .finger:
            enclave.sendVerdict(.changed, of: request.user, nonce: FingerDigest.none, fingers: FingerDigest.none)
            enclave.sendVerdict(.missed, of: request.user, nonce: request.nonce, fingers: FingerDigest.none)
        case .enroll, .forget: enclave.sendVerdict(.notEnrolled, of: request.user, nonce: request.nonce, fingers: FingerDigest.none)
        case .list: enclave.sendNames([], nonce: request.nonce)
        }
        try finish(request)
    }

    mutating func handleVerificationStatus(_ text: String, isDone: Bool, _ active: Active) throws(SystemError) {
        let request = active.request
        requests.recordTouch(now: MachineClock.monotonic)
        switch text {
        case "verify-match":
            enclave.sendVerdict(.matched, of: request.user, nonce: request.nonce, fingers: active.fingers)
            return try finish(request)
        case "verify-no-match":
            enclave.sendVerdict(.missed, of: request.user, nonce: request.nonce, fingers: active.fingers)
            try finish(request, endsTurn: false)
            // The prompt usually requests another finger at once, and until then the sensor is nobody else's.
            if !requests.waiting(behind: request.user).isEmpty { tryDue = MachineClock.monotonic + ReaderLimits.busyPause }
            return
        case "verify-disconnected": return lose("the sensor was taken away", again: ReaderLimits.faultPause)
        default: break
        }
        if let hint = Self.hint(text) {
            enclave.sendHint(hint, nonce: request.nonce)
            if isDone { try restartVerification() }
            return
        }
        enclave.sendHint(.sensorError, nonce: request.nonce)
        log.notice("the sensor says \(text)")
        try stop()
        postpone(request, because: "the sensor fails")
    }

    private mutating func restartVerification() throws(SystemError) {
        guard let active else { return }
        _ = try bus.call(active.owner, sensor: active.sensor, method: "VerifyStop")
        self.active?.phase = .preparing
        try startVerification()
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

    // MARK: Enrolling

    /// fprintd names each finger. Nothing checks which finger it is, so the next free name is used.
    private static let fingerNames = ["index-finger", "thumb", "middle-finger", "ring-finger", "little-finger"]
        .flatMap { ["right-\($0)", "left-\($0)"] }

    private mutating func beginEnrollment() throws(SystemError) {
        guard let active else { return }
        let request = active.request
        let (answer, known) = try bus.fingers(active.owner, active.sensor, of: active.name)
        guard answer == .done || answer == .noPrints else { return try failEnrollment(request, "the list of fingers is not available") }
        guard let finger = Self.fingerNames.first(where: { !known.contains($0) }) else {
            enclave.sendHint(.full, nonce: request.nonce)
            return try failEnrollment(request, "all ten fingers are enrolled")
        }
        // fprintd reports the number of touches only while the sensor is claimed.
        let touches = try bus.sensor(active.owner).1?.touches ?? 0
        try forgetTouches()
        guard self.active?.request.nonce == request.nonce else { return }
        switch try bus.call(active.owner, sensor: active.sensor, method: "EnrollStart", text: finger, within: ReaderLimits.permissionMax) {
        case .done: break
        case .denied: return try failEnrollment(request, "polkit does not let this user enroll a finger")
        case .gone, .inUse, .noPrints, .late, .failed: return try failEnrollment(request, "fprintd does not start to enroll a finger")
        }
        self.active?.phase = .enrolling(done: 0, total: touches)
        enclave.sendHint(.progress, nonce: request.nonce, done: 0, total: touches)
    }

    private mutating func failEnrollment(_ request: SensorRequest, _ why: String) throws(SystemError) {
        log.notice("no finger was enrolled: \(why)")
        enclave.sendVerdict(.notEnrolled, of: request.user, nonce: request.nonce, fingers: FingerDigest.none)
        try finish(request)
    }

    mutating func handleEnrollmentStatus(_ text: String, isDone: Bool, _ active: Active, done: Int64, total: Int64) throws(SystemError) {
        let request = active.request
        requests.recordTouch(now: MachineClock.monotonic)
        switch text {
        case "enroll-completed": return try finishEnrollment(active)
        case "enroll-stage-passed":
            self.active?.phase = .enrolling(done: done + 1, total: total)
            return enclave.sendHint(.progress, nonce: request.nonce, done: done + 1, total: total)
        case "enroll-duplicate": enclave.sendHint(.known, nonce: request.nonce)
        case "enroll-data-full": enclave.sendHint(.full, nonce: request.nonce)
        case "enroll-disconnected": return lose("the sensor was taken away", again: ReaderLimits.faultPause)
        default:
            if let hint = Self.hint(text), !isDone { return enclave.sendHint(hint, nonce: request.nonce, done: done, total: total) }
            enclave.sendHint(.sensorError, nonce: request.nonce)
        }
        try failEnrollment(request, text)
    }

    /// Handles a completed enrollment. The list changes even if the new finger has an older one's name, so the mark is renewed first.
    private mutating func finishEnrollment(_ active: Active) throws(SystemError) {
        let request = active.request
        _ = try bus.call(active.owner, sensor: active.sensor, method: "EnrollStop")
        self.active?.phase = .preparing
        let (answer, fingers) = try bus.fingers(active.owner, active.sensor, of: active.name)
        guard answer == .done, !fingers.isEmpty else { return try failEnrollment(request, "the list of fingers is not available") }
        let mark: [UInt8]
        do throws(SystemError) { mark = try store.renew(request.user) } catch {
            return try failEnrollment(request, "\(error)")
        }
        enclave.sendVerdict(
            .enrolled, of: request.user, nonce: request.nonce, fingers: FingerDigest.of(fingers, on: active.sensor.name, mark: mark))
        try finish(request)
    }

    /// Handles a finger that another program enrolled. fprintd does not report whose it is, so every enrollment ends: it may have replaced
    /// an enrolled finger of the same name.
    func handleForeignEnrollment() {
        log.warning("another program enrolled a finger: fingers do not count until they are enrolled again with the passcode")
        invalidateMarks(of: store.users)
    }

    /// Renews these users' marks and reports their lists as changed.
    func invalidateMarks(of users: some Sequence<UInt32>) {
        for user in users {
            let mark = (try? store.renew(user)) ?? [UInt8](repeating: 0xFF, count: 32)
            enclave.sendVerdict(
                .changed, of: user, nonce: FingerDigest.none, fingers: FingerDigest.of(["unknown"], on: "unknown", mark: mark))
        }
    }

    // MARK: Removing and listing

    private mutating func forget() throws(SystemError) {
        guard let active else { return }
        let request = active.request
        switch try bus.call(active.owner, sensor: active.sensor, method: "DeleteEnrolledFingers2", within: ReaderLimits.permissionMax) {
        case .done, .noPrints:
            // The mark alone allows nothing, so a failure to remove it is harmless.
            try? store.removeMark(of: request.user)
            enclave.sendVerdict(.enrolled, of: request.user, nonce: request.nonce, fingers: FingerDigest.none)
        case .gone, .inUse, .denied, .late, .failed:
            log.notice("fprintd does not delete fingers")
            enclave.sendVerdict(.notEnrolled, of: request.user, nonce: request.nonce, fingers: FingerDigest.none)
        }
        try finish(request)
    }

    private mutating func list(
        _ request: SensorRequest, owner: FprintBus.Owner, sensor: FprintBus.Sensor, name: String
    ) throws(SystemError) {
        let (answer, fingers) = try bus.fingers(owner, sensor, of: name)
        switch answer {
        case .done, .noPrints: enclave.sendNames(fingers, nonce: request.nonce)
        // A reply of another kind, which the enclave treats as a failure.
        case .gone, .inUse, .denied, .late, .failed:
            enclave.sendVerdict(.notEnrolled, of: request.user, nonce: request.nonce, fingers: FingerDigest.none)
        }
        try finish(request)
    }
}
