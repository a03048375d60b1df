import Glibc
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel

/// vauban sync --follow: synchronizes whenever something changed here or on another device, until the process ends (Specs/sync.md,
/// "Following").
final class SyncFollower {
    private let service: Service
    private var user: CommandUser
    private let wakeup: Wakeup
    private let unlocking: UnlockWatch
    private var carrier: (any SyncCarrier)?
    private var watch: (any CarrierWatch)?
    /// Whether nothing was synchronized yet.
    private var isFirst = true
    private var startsService = true
    /// Whether the account in etcd was read again since the last run that succeeded.
    private var hasRenewed = false
    /// What was said last of why nothing is synchronized, and what the last run found.
    private var trouble: String?
    private var findings: [String] = []
    private var afterFault = SyncFollower.pausesAfterFault
    private var afterNothing = SyncFollower.pausesAfterNothing

    /// The pauses before something is tried again that nothing announces, in milliseconds.
    private static var pausesAfterFault: Backoff { Backoff(from: 1_000, to: 300_000) }
    private static var pausesAfterNothing: Backoff { Backoff(from: 20, to: 5_000) }
    /// How long nothing must have happened for a run without a change to be the first again. Nanoseconds.
    private static let calmTime: UInt64 = 30_000_000_000

    /// - Parameter options: How the user is asked for the passcode at the beginning. Later a locked keychain is waited for.
    init(_ options: UserOptions) throws {
        service = try ServiceAccess.current()
        user = CommandUser(options)
        wakeup = try Wakeup()
        unlocking = try UnlockWatch(of: service, waking: wakeup)
    }

    func run() throws -> Never {
        try LocalChanges.follow(of: service, waking: wakeup)
        while true {
            // What is signalled from here on may come after this run has looked.
            wakeup.clear()
            let until: UInt64
            do {
                let isUseful = try synchronize()
                if trouble != nil { say("Synchronizing again.") }
                (trouble, isFirst, hasRenewed, afterFault) = (nil, false, false, Self.pausesAfterFault)
                until = MachineClock.monotonic + (watch?.silenceMax ?? 0)
                if isUseful { afterNothing = Self.pausesAfterNothing } else { pauseAfterNothing() }
            } catch {
                until = try deadline(after: error)
                pauseAfterNothing()
            }
            let began = MachineClock.monotonic
            _ = wakeup.wait(until: until)
            if MachineClock.monotonic - began > Self.calmTime { afterNothing = Self.pausesAfterNothing }
        }
    }

    /// Synchronizes once. Returns whether anything was received or sent.
    private func synchronize() throws -> Bool {
        if let failure = watch?.failure {
            (watch, carrier) = (nil, nil)
            throw failure
        }
        let session = Session(user, service, name: "The keychain", startsService: startsService)
        startsService = false
        try session.openNow()
        user = CommandUser(mayBeAsked: false)
        let home = try SyncHome(service, waitsForever: true)
        let place = try home.place
        if carrier?.place != place { (carrier, watch) = (nil, nil) }
        let open = try carrier ?? home.folder
        var circle = try SyncSession(session, home, known: open)
        carrier = open
        // The watch first: what changes after this run has read it is signalled.
        if let watch { try watch.refresh() } else { watch = try open?.watch(besides: circle.view.device, waking: wakeup) }
        if let waiting = try circle.enterOrFollow() { throw waiting }
        let outcome = try SyncOutcome(of: circle)
        for finding in outcome.findings where !findings.contains(finding) { say(finding) }
        findings = outcome.findings
        let isUseful = outcome.received > 0 || outcome.sent > 0
        if isFirst || isUseful { say(outcome.counts) }
        return isUseful
    }

    // MARK: Waiting

    /// Returns when to try again, unless something is signalled before. Throws what the user must see to.
    private func deadline(after error: any Error) throws -> UInt64 {
        guard let refusal = error as? Refusal else { throw error }
        switch refusal.reason {
        case .locked, .beforeFirstUnlock:
            tell("The keychain is locked; changes are synchronized once it is unlocked.")
            unlocking.wake()
            return MachineClock.monotonic + Self.calmTime * 120
        case .unavailable, .storageFull: break
        // The account may have been renewed since it was read.
        case .notAllowedHere where !isFirst && !hasRenewed:
            (carrier, watch, hasRenewed) = (nil, nil, true)
            return MachineClock.monotonic
        case .notAllowedHere: throw refusal
        default: if isFirst { throw refusal }
        }
        // The watch stays: what it signals may be what is missing.
        carrier = nil
        tell("Not synchronized: \(refusal.detail ?? refusal.message)")
        return MachineClock.monotonic + UInt64(afterFault.pause(afterConnectionLasting: 0)) * 1_000_000
    }

    private func tell(_ text: String) {
        if text != trouble { say(text) }
        trouble = text
    }

    /// Whoever writes the carrier, or changes items here, can wake this device; each time for nothing it wakes later.
    private func pauseAfterNothing() { poll(nil, 0, afterNothing.pause(afterConnectionLasting: 0)) }
}
