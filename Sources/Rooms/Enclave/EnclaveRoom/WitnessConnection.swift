// The standing connection to the witness, the only process that may inspect others.

import Enclave
import EnclaveWire
import VaubanDER
import VaubanLinuxHost
import VaubanUserModel

final class WitnessConnection: Sendable {
    /// One request that waits for its reply.
    private final class PendingRequest: Sendable {
        let wakeup: Wakeup
        let answer = ThreadMutex<WitnessAnswer?>(nil)
        init() throws(SystemError) { wakeup = try Wakeup() }
    }

    private struct State {
        var channel: Channel?
        var number: Int64 = 0
        var waiting: [Int64: PendingRequest] = [:]
        /// Threads that wait for a connection.
        var awaitingConnection: [Wakeup] = []
        var expectation = ReconnectionDeadline(from: MachineClock.monotonic, grace: EnclaveLimits.witnessGrace)
    }

    private let state = ThreadMutex(State())

    func serve(_ channel: Channel) {
        let old = state.withLock { state in
            defer { state.channel = channel }
            for wakeup in state.awaitingConnection { wakeup.signal() }
            return state.channel
        }
        old?.shutDown()
        defer { ended(channel) }
        while let message = try? channel.receive(.idle) {
            guard message.secret == nil, message.descriptors.isEmpty, let answer = try? WitnessAnswer(derBytes: message.header) else {
                return
            }
            guard let waiting = state.withLock({ $0.waiting.removeValue(forKey: answer.number) }) else { continue }
            waiting.answer.withLock { $0 = answer }
            waiting.wakeup.signal()
        }
    }

    /// Completes the requests that were sent over a lost connection as unknown now, and not only at their deadline.
    private func ended(_ channel: Channel) {
        let waiting: [PendingRequest] = state.withLock { state in
            guard state.channel === channel else { return [] }
            state.channel = nil
            state.expectation.lost(at: MachineClock.monotonic)
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for waiting in waiting {
            waiting.answer.withLock { $0 = $0 ?? WitnessAnswer(number: 0, identity: .unseen) }
            waiting.wakeup.signal()
        }
    }

    /// Returns the identity of a process; unknown if the witness does not reply within 3 s.
    func identity(of peer: Peer) -> CallerIdentity {
        guard let process = peer.process, let waiting = try? PendingRequest() else { return .unseen }
        let deadline = MachineClock.monotonic + EnclaveLimits.witnessTimeout
        let channel = standingChannel(waiting.wakeup, until: deadline)
        let number = state.withLock { state in
            state.number += 1
            state.waiting[state.number] = waiting
            return state.number
        }
        defer { state.withLock { $0.waiting[number] = nil } }
        guard let channel, let header = try? WitnessRequest(number: number, pid: Int64(peer.pid)).encoded(),
            (try? channel.send(header: header, descriptors: [process])) != nil
        else { return .unseen }
        // A new connection may have left a signal pending.
        while waiting.wakeup.wait(until: deadline) == .signaled {
            if let answer = waiting.answer.withLock({ $0 }) { return answer.identity }
        }
        return .unseen
    }

    /// Returns the witness's connection. Waits for one only if the rooms have just started or the connection was just lost, so that an
    /// early caller does not count as unknown.
    private func standingChannel(_ wakeup: Wakeup, until deadline: UInt64) -> Channel? {
        let (channel, until): (Channel?, UInt64?) = state.withLock { state in
            if let channel = state.channel { return (channel, nil) }
            let until = state.expectation.wait(from: MachineClock.monotonic, until: deadline)
            if until != nil { state.awaitingConnection.append(wakeup) }
            return (nil, until)
        }
        guard channel == nil, let until else { return channel }
        _ = wakeup.wait(until: until)
        return state.withLock { state in
            state.awaitingConnection.removeAll { $0 === wakeup }
            return state.channel
        }
    }
}

extension CallerIdentity {
    fileprivate var confinement: CallerName.Confinement? {
        switch standing {
        case .flatpak(let name): CallerName.Confinement(.flatpak, name)
        case .snap(let name): CallerName.Confinement(.snap, name)
        case .unknown, .installed, .own: nil
        }
    }
}

extension CallerName {
    /// Creates the name of a caller for a prompt: its own program, or those that started it if the program is Vauban's own command line.
    init(of peer: Peer, _ identity: CallerIdentity, teams: TeamNames) {
        let own = identity.throughCommandLine ? identity.chain.first : identity.executable?.path
        self.init(
            pid: Int64(peer.pid), path: own.flatMap { $0.isEmpty ? nil : $0 }, gap: identity.gap,
            startedBy: identity.throughCommandLine
                ? identity.chain.dropFirst().prefix(Self.startedByMax).map { $0.isEmpty ? "an unknown program" : $0 } : [],
            confinement: identity.confinement,
            signature: identity.signer.flatMap { signer in
                teams[signer.team].map { Signature(identifier: signer.identifier, team: $0) }
            })
    }
}
