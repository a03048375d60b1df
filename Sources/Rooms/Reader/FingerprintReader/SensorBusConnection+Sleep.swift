// The handling of the sensor while the machine sleeps. Between the login manager's two signals libfprint closes no sensor, and fprintd
// discards the claim of a client that releases it or disconnects, without closing the sensor: it then refuses the sensor to every client
// until it exits (Specs/reader.md). So the claim is kept while the machine sleeps.

internal import EnclaveWire
internal import Logging
internal import VaubanLinuxHost

extension SensorBusConnection {
    /// Returns the next signal, in the order received.
    mutating func next() throws(SystemError) -> FprintBus.Signal? {
        deferredSignals.isEmpty ? try bus.next() : deferredSignals.removeFirst()
    }

    mutating func sleep(_ isBeginning: Bool, _ signal: FprintBus.Signal) throws(SystemError) {
        guard let manager = try believedManager(), manager.uniqueName == signal.sender else { return }
        if isBeginning { fallAsleep(manager) } else { try wake() }
    }

    /// Reports that there is no sensor until the machine is awake, and sends nothing to fprintd.
    private mutating func fallAsleep(_ manager: FprintBus.Owner) {
        guard sleepAnnouncer == nil else { return }
        sleepAnnouncer = manager
        unreturned = active ?? unreturned
        lose("the machine goes to sleep", again: nil)
    }

    mutating func wake() throws(SystemError) {
        guard sleepAnnouncer != nil || unreturned != nil else { return }
        sleepAnnouncer = nil
        if let claim = unreturned {
            unreturned = nil
            try giveBack(claim)
        }
        // If the machine is about to sleep again, nothing is sent to fprintd.
        if unreturned == nil { try findSensor() }
    }

    /// Stops the sensor and releases it once the machine is awake.
    mutating func giveBack(_ claim: Active) throws(SystemError) {
        var claim = claim
        switch claim.phase {
        case .preparing: break
        case .verifying: _ = try bus.call(claim.owner, sensor: claim.sensor, method: "VerifyStop")
        case .enrolling: _ = try bus.call(claim.owner, sensor: claim.sensor, method: "EnrollStop")
        }
        claim.phase = .preparing
        if try goesToSleep() {
            unreturned = claim
        } else {
            if try bus.call(claim.owner, sensor: claim.sensor, method: "Release") == .late { try abandon(claim) }
        }
    }

    /// Returns whether the machine is about to sleep, by all signals received so far. The bus delivers the login manager's signal before
    /// anything that fprintd sends because of it.
    private mutating func goesToSleep() throws(SystemError) -> Bool {
        while let signal = try bus.next() { deferredSignals.append(signal) }
        let words = deferredSignals.compactMap { signal in
            if case .sleep(let isBeginning) = signal.kind { (isBeginning, signal.sender) } else { nil }
        }
        guard !words.isEmpty, let manager = try believedManager() else { return sleepAnnouncer != nil }
        return words.last { $0.1 == manager.uniqueName }?.0 ?? (sleepAnnouncer != nil)
    }

    private func believedManager() throws(SystemError) -> FprintBus.Owner? {
        guard let manager = try bus.loginManager(), manager.uid == settings.daemonUID else { return nil }
        return manager
    }

    // MARK: A sensor that fprintd has lost

    /// Handles an fprintd that refuses an unclaimed sensor, as after another program released it during a sleep. fprintd does so until it
    /// exits, which it does not while this connection, a client, exists. If the bus can start fprintd again, this replaces the connection
    /// by one that sends nothing and receives the signal of fprintd's exit.
    mutating func handleRefusal(of request: SensorRequest) throws(SystemError) {
        postpone(request, because: "cannot claim the reader")
        guard sensor == nil, try bus.canStart() else { return }
        log.notice("leaving fprintd alone, so that it can exit")
        try replaceConnection()
        searchDue = MachineClock.monotonic + ReaderLimits.leavePause
    }

    /// Ends the connection after fprintd did not answer a `Claim` or a `Release` in time. fprintd may still carry out the claim, or never
    /// the release, and then a claim ends only with the connection. If the machine is about to sleep the claim is released afterwards.
    mutating func abandon(_ claim: Active) throws(SystemError) {
        log.notice("fprintd did not answer in time")
        if try goesToSleep() { unreturned = claim } else { try replaceConnection() }
    }

    /// Replaces the connection by a new one. For a moment both receive signals, so an enrollment by another program is not missed.
    private mutating func replaceConnection() throws(SystemError) {
        let fresh = try FprintBus(address: settings.bus)
        while let signal = try bus.next() { deferredSignals.append(signal) }
        bus = fresh
    }
}
