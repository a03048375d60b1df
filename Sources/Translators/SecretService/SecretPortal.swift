import Glibc
internal import Synchronization
internal import VaubanAccessPolicy
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes

/// The backend of the Secret portal (org.freedesktop.impl.portal.Secret): a key for each sandboxed application, with which the application
/// encrypts its own secrets. xdg-desktop-portal identifies the application.
final class SecretPortal: Sendable {
    static let service = "secret-portal"
    static let version: UInt32 = 1
    private static let keyBytes = 64

    /// The response codes of portals.
    private enum Response: UInt32 { case success, cancelled, failure }

    private struct Request: Sendable {
        let client: String
        let share: ClientShare
        let application: String
        let wait: UnlockWait
    }

    private let keychain: KeychainClient
    private let keychainLock: KeychainLock
    private let send: @Sendable (BusOutgoing) -> Void
    /// The requests in progress, by the handles that clients chose.
    private let requests = Mutex<[String: Request]>([:])

    init(_ keychain: KeychainClient, _ keychainLock: KeychainLock, send: @escaping @Sendable (BusOutgoing) -> Void) {
        self.keychain = keychain
        self.keychainLock = keychainLock
        self.send = send
    }

    /// Writes the key of an application to the file that came with the call, then replies to the call. Runs on a separate thread, since the
    /// user may have to unlock the keychain first.
    func retrieve(_ call: BusCall, for client: BusClient) throws {
        // Only the portal may name an application: a sandboxed client that calls directly could name another one.
        guard client.application == .user else { throw BusError(.accessDenied, "Only the portal may ask for the keys of apps") }
        guard let handle = call.arguments[0].text, let application = call.arguments[1].text, let file = call.arguments[2].file,
            application.utf8.count <= SecretServiceLimits.applicationBytesMax
        else { throw BusError(.invalidArguments, "The app or the file cannot be used") }
        let wait = try UnlockWait()
        let earliestReply = Self.isUnnamed(handle) ? MachineClock.monotonic + SecretServiceLimits.unnamedRequestTimeMin : 0
        let isNew = requests.withLock { requests in
            // The client may have left meanwhile, and nothing would end its request later.
            guard !client.cancellation.isCancelled, requests[handle] == nil, requests.count < SecretServiceLimits.portalRequestsMax,
                requests.values.count(where: { $0.share == client.share }) < SecretServiceLimits.portalRequestsOfShareMax,
                requests.values.count(where: { $0.application == application }) < SecretServiceLimits.portalRequestsOfApplicationMax
            else { return false }
            requests[handle] = Request(client: client.name, share: client.share, application: application, wait: wait)
            return true
        }
        guard isNew else { throw BusError(.limitsExceeded, "There are too many requests, or one with this handle") }
        do throws(SystemError) {
            try HostThread.start { [self] in
                let response = self.response(for: application, to: file, client, wait, since: call.arrival)
                while MachineClock.monotonic < earliestReply, !wait.isCancelled { _ = wait.wakeup.wait(until: earliestReply) }
                requests.withLock { _ = $0.removeValue(forKey: handle) }
                send(.reply(call.number, [.unsigned32(response.rawValue), .properties([])]))
            }
        } catch {
            requests.withLock { _ = $0.removeValue(forKey: handle) }
            throw BusError(.limitsExceeded, error.sentence)
        }
    }

    /// Whether the application gave its request no name. The portal then names it `t` (with a number if that name is taken). Such an
    /// application can subscribe to the response only after it has received the handle, and misses an earlier response. libsecret up to
    /// 0.20 then waits forever.
    private static func isUnnamed(_ handle: String) -> Bool {
        let parts = handle.split(separator: "/")
        return parts.count >= 7 && parts[4] == "request" && parts[6] == "t"
    }

    /// Ends a request that waits for the user.
    func close(_ handle: String, by client: BusClient) throws(BusError) {
        guard let request = requests.withLock({ $0[handle] }), request.client == client.name else { throw .noSuchObject }
        request.wait.cancel()
    }

    func end(of client: String) {
        for request in requests.withLock({ $0.values.filter { $0.client == client } }) { request.wait.cancel() }
    }

    private func response(
        for application: String, to file: Descriptor, _ client: BusClient, _ wait: UnlockWait, since arrival: UInt64
    ) -> Response {
        do {
            return try write(key(of: application).bytes, to: file)
        } catch let refusal as Refusal where [.locked, .beforeFirstUnlock].contains(refusal.reason) {
            switch keychainLock.unlock(for: client, wait, since: arrival, lasting: AgentWait.longTime, send) {
            case .unlocked: return (try? write(key(of: application).bytes, to: file)) ?? .failure
            case .refused: return .cancelled
            case .notShown: return .failure
            }
        } catch {
            return .failure
        }
    }

    /// Returns the key of an application, and creates it at its first use.
    private func key(of application: String) throws -> SharedSecret {
        let attributes = ItemAttributes([.service: .text(Self.service), .account: .text(application)])
        var query = ItemQuery(kind: .genericPassword, attributes: attributes)
        query.attributes[.secretServiceAttributes] = .data([])
        query.returns = [.data, .attributes]
        query.authenticationUI = .fail
        // Another request may create the same key concurrently.
        for _ in 0..<2 {
            do throws(Refusal) {
                guard let found = try keychain.search(query).first, let secret = found.takeSecret() else { throw Refusal(.rowDamaged) }
                guard secret.count == Self.keyBytes else { throw Refusal(.rowDamaged) }
                return SharedSecret(secret)
            } catch {
                guard error.reason == .itemNotFound else { throw error }
            }
            let key = try Entropy.secret(Self.keyBytes)
            var record = ItemRecord(kind: .genericPassword, attributes: attributes)
            record.attributes[.label] = .text("Key of \(application.isEmpty ? "apps outside of sandboxes" : application)")
            do throws(Refusal) {
                _ = try keychain.add(record, secret: key.duplicate())
                return SharedSecret(key)
            } catch {
                guard error.reason == .duplicateItem else { throw error }
            }
        }
        throw Refusal(.internalError)
    }

    /// Writes the key to a pipe. A reader that reads too slowly delays this thread by ten seconds.
    private func write(_ key: borrowing SecretBytes, to file: Descriptor) -> Response {
        let deadline = MachineClock.monotonic + SecretServiceLimits.keyWriteTime
        var count = 0
        while count < key.count {
            var poller = pollfd(fd: file.number, events: Int16(POLLOUT), revents: 0)
            guard MachineClock.monotonic < deadline, poll(&poller, 1, MachineClock.pollTime(until: deadline)) == 1 else { return .failure }
            let start = count
            let written = key.withUnsafeBytes { Glibc.write(file.number, $0.baseAddress?.advanced(by: start), $0.count - start) }
            if written < 0, errno == EINTR || errno == EAGAIN { continue }
            guard written > 0 else { return .failure }
            count += written
        }
        return .success
    }
}
