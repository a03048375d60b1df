import Glibc
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel

/// vauban sync --follow: synchronizes whenever something changes here or on another device, until the process ends (Specs/sync.md,
/// "Following").
final class SyncFollower {
    private let service: Service
    private var user: CommandUser
    private let wakeup: Wakeup
    private let unlocking: UnlockMonitor
    private var carrier: (any SyncCarrier)?
    private var watch: (any CarrierMonitor)?
    /// Whether no run has succeeded yet.
    private var isFirst = true
    private var startsService = true
    /// Whether the place of the files is known.
    private var hasPlace = false
    /// Whether the account in etcd was read again since the last successful run.
    private var hasRenewed = false
    /// What the next light run continues from; nil if the next run must be a whole one.
    private var light: LightRuns?
    /// The last reported reason why nothing is synchronized, and below it the findings of the last run.
    private var lastFault: String?
    private var findings: [String] = []
    /// When recent runs sent something.
    private var sends: [UInt64] = []
    private var afterFault = SyncFollower.pausesAfterFault
    private var afterNothing = SyncFollower.pausesAfterNothing

    /// Pauses before retries without a signal, in milliseconds.
    private static var pausesAfterFault: Backoff { Backoff(from: 1_000, to: 300_000) }
    private static var pausesAfterNothing: Backoff { Backoff(from: 20, to: 5_000) }
    /// The quiet time after which the pauses for runs without a change start again from the shortest. Nanoseconds.
    private static let quietTime: UInt64 = 30_000_000_000
    /// How long keys are kept for light runs. Nanoseconds.
    private static let keysTime: UInt64 = 600_000_000_000
    /// If more than `sendsMax` runs send within `sendsTime` (nanoseconds), each further one is followed by a pause (milliseconds).
    private static let sendsMax = 60
    private static let sendsTime: UInt64 = 60_000_000_000
    private static let pauseAfterSends: Int32 = 5_000
    /// How often a complete synchronization is recorded at most. Seconds.
    private static let recordTime: Double = 60

    /// - Parameter options: How the user is asked for the passcode at the beginning. Later, a locked keychain means waiting until it is
    ///   unlocked.
    init(_ options: UserOptions) throws {
        service = try ServiceAccess.current()
        user = CommandUser(options)
        wakeup = try Wakeup()
        unlocking = try UnlockMonitor(of: service, waking: wakeup)
    }

    func run() throws -> Never {
        let changes = try LocalChanges(of: service, waking: wakeup)
        while true {
            // A change that is signaled from here on may escape this run.
            wakeup.clear()
            let (items, isLocked) = (changes.take(), unlocking.takeLock())
            let devices = watch?.news.take()
            if isLocked { light = nil }
            var until: UInt64
            do {
                if let isUseful = try synchronizeLightly(items, devices) {
                    until = light?.wholeRun ?? 0
                    if isUseful { afterNothing = Self.pausesAfterNothing } else { pauseAfterNothing() }
                } else {
                    let isExpected = light.map { $0.wholeRun <= MachineClock.monotonic } ?? false
                    let isUseful = try synchronize()
                    if lastFault != nil { say("Synchronizing again.") }
                    (lastFault, isFirst, hasRenewed, afterFault) = (nil, false, false, Self.pausesAfterFault)
                    until = MachineClock.monotonic + (watch?.silenceMax ?? 0)
                    if isUseful { afterNothing = Self.pausesAfterNothing } else if !isExpected { pauseAfterNothing() }
                }
            } catch {
                light = nil
                until = try deadline(after: error)
                pauseAfterNothing()
            }
            pauseAfterManySends()
            let began = MachineClock.monotonic
            wait(until: until)
            if MachineClock.monotonic - began > Self.quietTime { afterNothing = Self.pausesAfterNothing }
        }
    }

    /// Synchronizes only the reported changes. Returns whether anything was received or sent; nil if a whole run is needed.
    /// - Parameters:
    ///   - items: The items that changed here; nil if not all are known.
    ///   - devices: The devices that wrote files; nil if something else changed too.
    private func synchronizeLightly(_ items: [[UInt8]]?, _ devices: Set<String>?) throws -> Bool? {
        guard var light, let items, let devices, watch?.failure == nil, !items.isEmpty || !devices.isEmpty,
            MachineClock.monotonic < light.wholeRun
        else { return nil }
        self.light = nil
        let home = light.run.circle.home
        guard home.take() else { return nil }
        defer { home.release() }
        guard !unlocking.takeLock(), home.stateVersion == light.stateVersion, try home.place == light.run.circle.folder.place else {
            return nil
        }
        let isDone: Bool
        do { isDone = try light.run.runLightly(items: items, devices: devices) } catch is Refusal {
            // A whole run reports the error if it persists.
            isDone = false
        }
        let outcome = SyncOutcome(light.run)
        let isUseful = note(outcome)
        for sentence in outcome.conflicts { say(sentence) }
        if isUseful { say(outcome.counts) }
        guard isDone else { return nil }
        light.note()
        self.light = light
        return isUseful
    }

    /// Does a whole run. Returns whether anything was received or sent.
    private func synchronize() throws -> Bool {
        light = nil
        if let failure = watch?.failure {
            (watch, carrier) = (nil, nil)
            throw failure
        }
        let client = ServiceClient(user, service, name: "The keychain", startsService: startsService)
        startsService = false
        try client.openNow()
        user = CommandUser(mayBePrompted: false)
        let home = try SyncHome(service, waitsForever: true)
        defer { home.release() }
        let place = try home.place
        hasPlace = place != nil
        if carrier?.place != place { (carrier, watch) = (nil, nil) }
        let open = try carrier ?? home.folder
        var circle = try SyncCircle(client, home, known: open)
        carrier = open
        // Start the watch before reading, so that changes after the reading are signaled.
        if let watch { try watch.refresh() } else { watch = try open?.watch(for: .items, besides: circle.view.device, waking: wakeup) }
        if let waiting = try circle.enterOrFollow() { throw waiting }
        let run = try SyncRun(whole: circle)
        let outcome = SyncOutcome(run)
        for finding in outcome.findings where !findings.contains(finding) { say(finding) }
        findings = outcome.findings
        for sentence in outcome.conflicts { say(sentence) }
        let isUseful = note(outcome)
        if outcome.isComplete { home.noteComplete(circle.folder, notWithin: Self.recordTime) }
        if isFirst || isUseful { say(outcome.counts) }
        if run.mayBeFollowedLightly { light = LightRuns(after: run) }
        return isUseful
    }

    /// Returns whether anything was received or sent.
    private func note(_ outcome: SyncOutcome) -> Bool {
        if outcome.sent > 0 { sends.append(MachineClock.monotonic) }
        return outcome.received > 0 || outcome.sent > 0
    }

    // MARK: Waiting

    /// Waits for a signal or the deadline, and drops keys that no light run has used by then.
    private func wait(until deadline: UInt64) {
        if light?.isFresh == true {
            let end = min(deadline, MachineClock.monotonic + Self.keysTime)
            guard wakeup.wait(until: end) == .deadline, end < deadline else { return }
            light = nil
        }
        _ = wakeup.wait(until: deadline)
    }

    /// Returns when to try again if nothing is signaled before. Throws errors that the user must resolve.
    private func deadline(after error: any Error) throws -> UInt64 {
        guard let refusal = error as? Refusal else { throw error }
        switch refusal.reason {
        case .locked, .beforeFirstUnlock:
            report("The keychain is locked; changes are synchronized once it is unlocked.")
            unlocking.wake()
            return MachineClock.monotonic + Self.quietTime * 120
        case .unavailable, .storageFull: break
        // The account may have been renewed since it was last read.
        case .notAllowedHere where !isFirst && !hasRenewed:
            (carrier, watch, hasRenewed) = (nil, nil, true)
            return MachineClock.monotonic
        case .notAllowedHere: throw refusal
        // A folder that is not mounted or not copied completely may still arrive.
        default: if isFirst, !hasPlace { throw refusal }
        }
        // Keep the watch: it may signal what is missing.
        carrier = nil
        report("Not synchronized: \(refusal.detail ?? refusal.message)")
        return MachineClock.monotonic + UInt64(afterFault.pause()) * 1_000_000
    }

    private func report(_ text: String) {
        if text != lastFault { say(text) }
        lastFault = text
    }

    /// Pauses after many runs that sent something, so that continual changes are sent together: each such run adds a file that every device
    /// reads.
    private func pauseAfterManySends() {
        let now = MachineClock.monotonic
        sends.removeAll { now - $0 > Self.sendsTime }
        if sends.count > Self.sendsMax { poll(nil, 0, Self.pauseAfterSends) }
    }

    /// Pauses after a run without changes, longer each time: anyone who can write to the carrier can wake this device.
    private func pauseAfterNothing() { poll(nil, 0, afterNothing.pause()) }
}

/// What light runs continue from, and when a whole run follows them: soon after the last one, and not long after the first.
private struct LightRuns {
    var run: SyncRun
    private(set) var stateVersion: [UInt64]?
    /// When a whole run is due (monotonic clock, nanoseconds).
    private(set) var wholeRun = UInt64.max
    private var latest = UInt64.max
    /// Whether no light run has been done yet.
    var isFresh: Bool { wholeRun == .max }

    init(after run: SyncRun) {
        self.run = run
        stateVersion = run.circle.home.stateVersion
    }

    /// Notes that a light run was done.
    mutating func note() {
        let now = MachineClock.monotonic
        if isFresh { latest = now + Self.latestTime }
        wholeRun = min(now + Self.soonTime, latest)
        stateVersion = run.circle.home.stateVersion
    }

    private static let soonTime: UInt64 = 3_000_000_000
    private static let latestTime: UInt64 = 30_000_000_000
}
