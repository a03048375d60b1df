// Derivations one at a time in the whole enclave, in an order that no user decides, and none for whoever is gone.

package import VaubanLinuxHost
package import VaubanRefusal

/// For whom a derivation is made, and how it shows that they wait no more.
package struct DerivationRequester {
    /// The connection and the process whose end takes the request out of the queue; nil where nothing is to be watched.
    let connection: Descriptor?
    let process: Descriptor?
    /// Says to whoever waits that the request still stands. Throws where nobody hears it any more.
    let stillWaiting: () throws -> Void

    package init(connection: Descriptor?, process: Descriptor?, stillWaiting: @escaping () throws -> Void) {
        self.connection = connection
        self.process = process
        self.stillWaiting = stillWaiting
    }

    /// One that waits for as long as it takes.
    package static var patient: DerivationRequester { DerivationRequester(connection: nil, process: nil, stillWaiting: {}) }
}

package final class DerivationQueue: Sendable {
    private struct State {
        var order = DerivationOrder()
        /// How those who wait are told of their turn.
        var wakeups: [DerivationOrder.DerivationTicket: Wakeup] = [:]
    }

    private let state = ThreadMutex(State())

    package init() {}

    /// How many requests wait behind the one that runs.
    package var waitingCount: Int { state.withLock { $0.order.waitingCount } }

    /// How many turns have begun since the start.
    package var turnsBegun: UInt64 { state.withLock { $0.order.served } }

    /// A place for a request, which `leave` gives back. Refused with `unavailable` where the owner has too many.
    package func enter(_ kind: DerivationKind, of owner: UInt32) throws(Refusal) -> DerivationOrder.Place {
        guard let place = state.withLock({ $0.order.enter(owner, kind) }) else { throw Self.tooMany(kind) }
        return place
    }

    package func leave(_ place: DerivationOrder.Place) { state.withLock { $0.order.leave(place) } }

    /// Runs one derivation of a request when its turn has come. Refused with `cancelled`, and not run, where the requester was gone
    /// before. Nothing is to be waited for in `body`.
    package func withTurn<Value: ~Copyable>(
        _ place: DerivationOrder.Place, for requester: DerivationRequester, _ body: () throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
        let ticket = try stand(place)
        defer { end(ticket) }
        try waitForTurn(ticket, requester)
        return try body()
    }

    private func stand(_ place: DerivationOrder.Place) throws(Refusal) -> DerivationOrder.DerivationTicket {
        try state.withLock { (state) throws(Refusal) -> DerivationOrder.DerivationTicket in
            let ticket = state.order.wait(place)
            if state.order.running != ticket {
                do throws(SystemError) { state.wakeups[ticket] = try Wakeup() } catch {
                    state.order.end(ticket)
                    throw Refusal(.unavailable, "the enclave has no descriptor free; try again")
                }
            }
            return ticket
        }
    }

    private func end(_ ticket: DerivationOrder.DerivationTicket) {
        state.withLock { state in
            state.wakeups[ticket] = nil
            if let next = state.order.end(ticket) { state.wakeups[next]?.signal() }
        }
    }

    private func waitForTurn(_ ticket: DerivationOrder.DerivationTicket, _ requester: DerivationRequester) throws(Refusal) {
        // Whose turn came at once did not wait.
        guard let wakeup = state.withLock({ $0.wakeups[ticket] }) else { return }
        while state.withLock({ $0.order.running != ticket }) {
            switch wakeup.wait(
                until: MachineClock.monotonic + EnclaveLimits.derivationNewsTime, connection: requester.connection,
                process: requester.process)
            {
            case .signalled: continue
            case .hungUp, .processEnded: throw Self.gone
            case .deadline: do { try requester.stillWaiting() } catch { throw Self.gone }
            }
        }
        // A turn that comes at the same moment as the requester's end is the next one's.
        wakeup.clear()
        switch wakeup.wait(until: 0, connection: requester.connection, process: requester.process) {
        case .hungUp, .processEnded: throw Self.gone
        case .signalled, .deadline: return
        }
    }

    private static var gone: Refusal { Refusal(.cancelled, "the caller is gone") }

    private static func tooMany(_ kind: DerivationKind) -> Refusal {
        let count = kind == .passcode ? EnclaveLimits.derivationsWaitingMax : EnclaveLimits.applicationDerivationsWaitingMax
        let what = kind == .passcode ? "passcodes" : "application passwords"
        return Refusal(.unavailable, "\(count) \(what) of this user are being checked already; try again when one of them is answered")
    }
}
