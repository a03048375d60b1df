internal import Crypto
internal import Synchronization
internal import VaubanLinuxHost

/// The sessions of all clients.
final class Sessions: Sendable {
    private struct State: Sendable {
        var sessions: [String: TransferSession] = [:]
        /// The share of each session's client, by the path of the session.
        var shares: [String: ClientShare] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    /// Opens a session. Returns the service's part of the key agreement and the session's path, as `OpenSession` does.
    func open(_ algorithm: String, _ input: BusValue, for client: BusClient) throws -> [BusValue] {
        switch TransferSession.Algorithm(rawValue: algorithm) {
        case nil: throw BusError(.notSupported, "The algorithm of the session is not supported")
        case .plain: return [.variant(.string("")), .path(try keep(nil, for: client))]
        case .aes:
            guard let theirs = input.unwrapped.secret, let answer = try KeyAgreement.answer(theirs.array) else {
                throw BusError(.invalidArguments, "The public key of the session cannot be used")
            }
            return [.variant(.bytes(SharedSecret(copying: answer.publicKey))), .path(try keep(answer.key, for: client))]
        }
    }

    private func keep(_ key: SymmetricKey?, for client: BusClient) throws(BusError) -> String {
        let path: String? = state.withLock { state in
            // The client may have left meanwhile, and nothing would end its session later.
            guard !client.cancellation.isCancelled, state.sessions.count < SecretServiceLimits.sessionsMax,
                state.shares.values.count(where: { $0 == client.share }) < SecretServiceLimits.sessionsOfShareMax,
                state.sessions.values.count(where: { $0.client == client.name }) < SecretServiceLimits.sessionsOfClientMax
            else { return nil }
            state.lastNumber += 1
            let path = "\(ObjectPath.root)/session/s\(state.lastNumber)"
            state.sessions[path] = TransferSession(path: path, client: client.name, key: key)
            state.shares[path] = client.share
            return path
        }
        guard let path else { throw BusError(.limitsExceeded, "There are too many sessions") }
        return path
    }

    func session(_ path: String, of client: String) throws(BusError) -> TransferSession {
        let found = state.withLock { $0.sessions[path] }
        guard let found, found.client == client else { throw BusError(.noSession, "No such session") }
        return found
    }

    func close(_ path: String, of client: String) throws(BusError) {
        _ = try session(path, of: client)
        state.withLock { state in
            state.sessions[path] = nil
            state.shares[path] = nil
        }
    }

    func end(of client: String) {
        state.withLock { state in
            for path in state.sessions.filter({ $0.value.client == client }).keys {
                state.sessions[path] = nil
                state.shares[path] = nil
            }
        }
    }
}
