// The sensor while the machine sleeps. libfprint closes no sensor between the login manager's two words, and fprintd forgets the claim of
// whoever gives it back then, or goes away, without having closed it: from there on it refuses the sensor to everybody, until it ends
// (Specs/reader.md). So a claim is kept over the sleep.

internal import EnclaveWire
internal import Logging
internal import VaubanLinuxHost

extension SensorWatch {
    /// The next signal, in the order in which they came.
    mutating func next() throws(SystemError) -> FprintBus.Signal? {
        heard.isEmpty ? try bus.next() : heard.removeFirst()
    }

    mutating func sleep(_ isBeginning: Bool, _ signal: FprintBus.Signal) throws(SystemError) {
        guard let manager = try believedManager(), manager.uniqueName == signal.sender else { return }
        if isBeginning { fallAsleep(manager) } else { try wake() }
    }

    /// There is no sensor until the machine is awake, and nothing is said to fprintd.
    private mutating func fallAsleep(_ manager: FprintBus.Owner) {
        guard sleepSaidBy == nil else { return }
        sleepSaidBy = manager
        unreturned = active ?? unreturned
        lose("the machine goes to sleep", again: nil)
    }

    mutating func wake() throws(SystemError) {
        guard sleepSaidBy != nil || unreturned != nil else { return }
        sleepSaidBy = nil
        if let claim = unreturned {
            unreturned = nil
            try giveBack(claim)
        }
        // Where the machine goes to sleep once more nothing is asked of fprintd.
        if unreturned == nil { try look() }
    }

    /// Ends what is before the sensor, and lets go of it, once the machine is awake.
    mutating func giveBack(_ claim: Active) throws(SystemError) {
        var claim = claim
        switch claim.phase {
        case .preparing: break
        case .looking: _ = try bus.call(claim.owner, claim.sensor, "VerifyStop")
        case .learning: _ = try bus.call(claim.owner, claim.sensor, "EnrollStop")
        }
        claim.phase = .preparing
        if try goesToSleep() {
            unreturned = claim
        } else {
            _ = try bus.call(claim.owner, claim.sensor, "Release")
        }
    }

    /// Whether the machine sleeps, by all that has come up to now. The bus brings the login manager's word to the reader before anything
    /// that fprintd says because of it.
    private mutating func goesToSleep() throws(SystemError) -> Bool {
        while let signal = try bus.next() { heard.append(signal) }
        let words = heard.compactMap { signal in
            if case .sleep(let isBeginning) = signal.kind { (isBeginning, signal.sender) } else { nil }
        }
        guard !words.isEmpty, let manager = try believedManager() else { return sleepSaidBy != nil }
        return words.last { $0.1 == manager.uniqueName }?.0 ?? (sleepSaidBy != nil)
    }

    private func believedManager() throws(SystemError) -> FprintBus.Owner? {
        guard let manager = try bus.loginManager(), manager.uid == settings.daemonUID else { return nil }
        return manager
    }

    // MARK: A sensor that fprintd has lost

    /// fprintd refuses a sensor that nobody has claimed: as after another program gave it back while the machine slept. It does so until
    /// it ends, and while this connection lives, which has asked it something, it does not end by itself. Where the bus starts it anew,
    /// another connection takes the place of this one and asks it nothing; the end of fprintd is heard on it.
    mutating func refused(_ question: Question) throws(SystemError) {
        putOff(question, "the reader cannot be claimed")
        guard sensor == nil, try bus.canStart() else { return }
        log.notice("fprintd is left alone, so that it can end")
        let fresh = try FprintBus(address: settings.bus)
        // Both hear at this moment: what another program enrols is missed by neither.
        while let signal = try bus.next() { heard.append(signal) }
        bus = fresh
        lookDue = MachineClock.monotonic + ReaderLimits.leavePause
    }
}
