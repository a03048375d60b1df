internal import Synchronization
internal import VaubanLinuxHost

/// Calls that wait for the user, each on a separate thread, until the user answers or the client leaves the bus.
final class WalletWaits: Sendable {
    private struct State: Sendable {
        var waits: [Int32: (client: BusClient, wait: UnlockWait)] = [:]
        var lastNumber: Int32 = 0

        /// Whether a share may have one more waiting call. Sandboxed applications leave half of them to the other programs.
        func hasRoom(for share: ClientShare) -> Bool {
            let ofShareMax = share.isOfSandbox ? SecretServiceLimits.walletWaitsOfSandboxMax : SecretServiceLimits.walletWaitsOfShareMax
            let ofShare = waits.values.count(where: { $0.client.share == share })
            guard waits.count < SecretServiceLimits.walletWaitsMax, ofShare < ofShareMax else { return false }
            return !share.isOfSandbox
                || waits.values.count(where: { $0.client.share.isOfSandbox }) < SecretServiceLimits.walletWaitsOfSandboxesMax
        }
    }

    private let state = Mutex(State())

    /// Returns a transaction number for a call whose result is sent as a signal.
    func transaction() -> Int32 {
        state.withLock { state in
            state.lastNumber = state.lastNumber == .max ? 1 : state.lastNumber + 1
            return state.lastNumber
        }
    }

    func begin(for client: BusClient, _ body: @escaping @Sendable (UnlockWait) -> Void) throws {
        let wait = try UnlockWait()
        let number = transaction()
        let isNew = state.withLock { state in
            guard state.hasRoom(for: client.share) else { return false }
            state.waits[number] = (client, wait)
            return true
        }
        guard isNew else { throw BusError(.limitsExceeded, "Too many programs wait for the user") }
        // The client may have left before this wait was registered.
        if client.cancellation.isCancelled { wait.cancel() }
        do throws(SystemError) {
            try HostThread.start { [self] in
                body(wait)
                forget(number)
            }
        } catch {
            forget(number)
            throw BusError(.limitsExceeded, error.sentence)
        }
    }

    private func forget(_ number: Int32) { state.withLock { _ = $0.waits.removeValue(forKey: number) } }

    func end(of client: String) {
        for wait in state.withLock({ state in state.waits.values.filter { $0.client.name == client } }) { wait.wait.cancel() }
    }
}
