// Runs key derivations one at a time in the whole enclave, in an order that no user controls. Skips requests whose callers are gone.

package import VaubanLinuxHost
package import VaubanRefusal

/// The request for which a derivation runs, and how the queue detects that its caller is gone.
package struct DerivationRequester {
    /// The connection and the process whose end removes the request from the queue; nil if there is none.
    let connection: Descriptor?
    let process: Descriptor?
    /// Reports to the caller that the request is still queued. Throws if the caller is gone.
    let reportWaiting: () throws -> Void

    package init(connection: Descriptor?, process: Descriptor?, reportWaiting: @escaping () throws -> Void) {
        self.connection = connection
        self.process = process
        self.reportWaiting = reportWaiting
    }

    /// A requester that waits indefinitely and is never cancelled.
    package static var unattended: DerivationRequester { DerivationRequester(connection: nil, process: nil, reportWaiting: {}) }
}

package final class DerivationQueue: Sendable {
    private struct State {
        var order = DerivationOrder()
        /// Wakes the threads whose turn begins.
        var wakeups: [DerivationOrder.DerivationTicket: Wakeup] = [:]
    }

    private let state = ThreadMutex(State())

    package init() {}

    /// The number of requests that wait behind the running one.
    package var waitingCount: Int { state.withLock { $0.order.waitingCount } }

    /// The number of turns that have begun since the start.
    package var turnsBegun: UInt64 { state.withLock { $0.order.served } }

    /// Reserves a place for a request until `leave`. Throws `unavailable` if the owner has too many.
    package func enter(_ kind: DerivationKind, of owner: UInt32) throws(Refusal) -> DerivationOrder.Place {
        guard let place = state.withLock({ $0.order.enter(owner, kind) }) else { throw Self.tooMany(kind) }
        return place
    }

    package func leave(_ place: DerivationOrder.Place) { state.withLock { $0.order.leave(place) } }

    /// Runs one derivation when its turn comes. Throws `cancelled` without running it if the requester is gone. `body` must not block.
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
                    throw Refusal(.unavailable, "The enclave has no descriptor free; try again")
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
        // A ticket without a wakeup got its turn immediately.
        guard let wakeup = state.withLock({ $0.wakeups[ticket] }) else { return }
        while state.withLock({ $0.order.running != ticket }) {
            switch wakeup.wait(
                until: MachineClock.monotonic + EnclaveLimits.derivationProgressInterval, connection: requester.connection,
                process: requester.process)
            {
            case .signaled: continue
            case .hungUp, .processEnded: throw Self.gone
            case .deadline: do { try requester.reportWaiting() } catch { throw Self.gone }
            }
        }
        // If the turn and the requester's end coincide, the turn goes to the next ticket.
        wakeup.clear()
        switch wakeup.wait(until: 0, connection: requester.connection, process: requester.process) {
        case .hungUp, .processEnded: throw Self.gone
        case .signaled, .deadline: return
        }
    }

    private static var gone: Refusal { Refusal(.cancelled, "the caller is gone") }

    private static func tooMany(_ kind: DerivationKind) -> Refusal {
        let count = kind == .passcode ? EnclaveLimits.derivationsWaitingMax : EnclaveLimits.applicationDerivationsWaitingMax
        let what = kind == .passcode ? "passcodes" : "application passwords"
        return Refusal(.unavailable, "\(count) \(what) of this user are already being checked; try again when one of them is done")
    }
}
