// The line to the witness, the one process that may look at others.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
internal import Synchronization
import VaubanDER
import VaubanLinuxHost

final class WitnessLine: Sendable {
    /// One question that waits.
    private final class Waiting: Sendable {
        let wakeup: Wakeup
        let answer = Mutex<WitnessAnswer?>(nil)
        init() throws(SystemFault) { wakeup = try Wakeup() }
    }

    private struct State {
        var channel: Channel?
        var number: Int64 = 0
        var waiting: [Int64: Waiting] = [:]
    }

    private let state = Mutex(State())

    func serve(_ channel: Channel) {
        let old = state.withLock { state in
            defer { state.channel = channel }
            return state.channel
        }
        old?.shutDown()
        defer { state.withLock { if $0.channel === channel { $0.channel = nil } } }
        while let message = try? channel.receive(.idle) {
            guard message.secret == nil, message.descriptors.isEmpty, let answer = try? WitnessAnswer(derBytes: message.header) else { return }
            guard let waiting = state.withLock({ $0.waiting.removeValue(forKey: answer.number) }) else { continue }
            waiting.answer.withLock { $0 = answer }
            waiting.wakeup.signal()
        }
    }

    /// Who a process is; unknown when nobody can say in time.
    func identity(of peer: Peer) -> CallerIdentity {
        guard let process = peer.process, let waiting = try? Waiting() else { return .unseen }
        let (channel, number) = state.withLock { state in
            state.number += 1
            state.waiting[state.number] = waiting
            return (state.channel, state.number)
        }
        defer { state.withLock { $0.waiting[number] = nil } }
        guard let channel, let header = try? WitnessQuestion(number: number, pid: Int64(peer.pid)).encoded(),
            (try? channel.send(header: header, descriptors: [process])) != nil
        else { return .unseen }
        _ = waiting.wakeup.wait(until: MachineClock.monotonic + EnclaveLimits.witnessTime)
        return waiting.answer.withLock { $0 }?.identity ?? .unseen
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
    /// How a prompt names a caller: by its own program, and by those that started it where that program is Vauban's own.
    init(of peer: Peer, _ identity: CallerIdentity) {
        let own = identity.throughCommandLine ? identity.chain.first : identity.executable?.path
        self.init(
            pid: Int64(peer.pid), path: own.flatMap { $0.isEmpty ? nil : $0 }, doubt: identity.doubt,
            startedBy: identity.throughCommandLine ? identity.chain.dropFirst().prefix(Self.startedByMax).map { $0.isEmpty ? "an unknown program" : $0 } : [],
            confinement: identity.confinement)
    }
}
