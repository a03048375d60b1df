// The sensor while the machine sleeps. libfprint closes no sensor between the login manager's two words, and fprintd forgets the claim of
// whoever gives it back then, or goes away, without having closed it: from there on it refuses the sensor to everybody, until it ends
// (Specs/reader.md). So a claim is kept over the sleep.

internal import EnclaveWire
internal import VaubanLinuxHost

extension SensorWatch {
    /// The next signal, in the order in which they came.
    mutating func next() throws(SystemFault) -> FprintBus.Signal? {
        heard.isEmpty ? try bus.next() : heard.removeFirst()
    }

    mutating func sleep(_ isBeginning: Bool, _ signal: FprintBus.Signal) throws(SystemFault) {
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

    mutating func wake() throws(SystemFault) {
        guard sleepSaidBy != nil else { return }
        sleepSaidBy = nil
        if let claim = unreturned {
            unreturned = nil
            try giveBack(claim)
        }
        try look()
    }

    /// Ends what is before the sensor, and lets go of it, once the machine is awake.
    mutating func giveBack(_ claim: Active) throws(SystemFault) {
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
    private mutating func goesToSleep() throws(SystemFault) -> Bool {
        while let signal = try bus.next() { heard.append(signal) }
        let words = heard.compactMap { signal in
            if case .sleep(let isBeginning) = signal.kind { (isBeginning, signal.sender) } else { nil }
        }
        guard !words.isEmpty, let manager = try believedManager() else { return sleepSaidBy != nil }
        return words.last { $0.1 == manager.uniqueName }?.0 ?? (sleepSaidBy != nil)
    }

    private func believedManager() throws(SystemFault) -> FprintBus.Owner? {
        guard let manager = try bus.loginManager(), manager.uid == settings.daemonUID else { return nil }
        return manager
    }
}
