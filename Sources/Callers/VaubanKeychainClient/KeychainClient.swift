// A typed client of the keychain socket: one method for each request.

internal import VaubanDER
package import VaubanKeychainModel
package import VaubanKeychainWire
package import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

/// An item as the keychain returned it. Its value, if requested, can be taken once.
package final class ReceivedItem {
    package let record: ItemRecord?
    /// The item's identifier, 16 bytes, if a reference was requested.
    package let reference: [UInt8]?
    /// The certificate of an identity, in DER, if its value was requested.
    package let certificate: [UInt8]?
    private var secret: SecretBytes?

    init(_ item: FoundItem, secret: consuming SecretBytes?) {
        record = item.record
        reference = item.reference
        certificate = item.certificate
        self.secret = secret
    }

    /// Returns the value once; nil if the item has none, it was not requested, or it was taken before.
    package func takeSecret() -> SecretBytes? { secret.take() }
}

/// A connection pool to keychaind. `waiting` is called on the caller's thread when the user is prompted, with the place of the prompt; from
/// then on the user's timeout applies to the call.
package final class KeychainClient: Sendable {
    package typealias Waiting = (String) -> Void
    let connection: ServiceConnection

    /// With `startsService` false, a stopped service is not started.
    package init(service: Service, startsService: Bool = true) {
        connection = ServiceConnection(service: service, address: service.keychainAddress, startsService: startsService)
    }

    /// Adds an item; returns it if `returns` requests something. The password, 1 to 1024 bytes, is the application password that the access
    /// control requires. `applications` may read the item in addition to its owner.
    package func add(
        _ record: ItemRecord, secret: borrowing SecretBytes?, password: borrowing SecretBytes? = nil, returns: ReturnKinds = [],
        applications: [String] = [], waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) -> ReceivedItem? {
        let count = try Self.passwordBytes(password)
        let request = KeychainRequest.add(
            record, returns: returns, hasData: secret != nil, passwordBytes: count, applications: applications)
        return try call(request, secret: secret, password: password, waiting: waiting, cancellation).found.first
    }

    /// Returns the matches in no particular order; throws `itemNotFound` if there are none.
    package func copyMatching(
        _ query: ItemQuery, password: borrowing SecretBytes? = nil, waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) -> [ReceivedItem] {
        let request = KeychainRequest.copyMatching(query, passwordBytes: try Self.passwordBytes(password))
        return try call(request, secret: nil, password: password, waiting: waiting, cancellation).found
    }

    /// Calls `body` with each match as it arrives, so that matches need not be in memory together. Throws `itemNotFound` if there are none.
    /// After an error, ignore the matches that arrived before it.
    package func forEachMatch(
        of query: ItemQuery, cancellation: CallCancellation? = nil, _ body: @escaping (ReceivedItem) -> Void
    ) throws(Refusal) {
        _ = try call(
            .copyMatching(query, passwordBytes: nil), secret: nil, waiting: nil, found: body, cancellation: cancellation)
    }

    /// Sends several searches in one write, and calls `body` with the outcome of each, or its refusal, in order and as they arrive. The
    /// keychain serves one after the other, as if they had been sent separately. Throws if the connection ends before the last outcome.
    package func copyMatching(
        each queries: [ItemQuery], waiting: Waiting? = nil, cancellation: CallCancellation? = nil,
        _ body: (Result<[ReceivedItem], Refusal>) -> Void
    ) throws(Refusal) {
        let headers: [[UInt8]]
        do { headers = try queries.map { try KeychainRequest.copyMatching($0, passwordBytes: nil).encoded() } } catch {
            throw Refusal(.internalError, "the request cannot be encoded")
        }
        guard !headers.isEmpty else { return }
        do throws(HandshakeError) {
            let channel = try connection.send(each: headers) { cancellation?.watch($0) }
            var outcome: Result<Outcome, Refusal>
            do throws(ChannelError) {
                var left = headers.count
                repeat {
                    outcome = try replies(on: channel, waiting: waiting, progress: nil, found: nil)
                    body(outcome.map(\.found))
                    left -= 1
                } while left > 0
            } catch { throw .channel(error) }
            give(back: channel, after: outcome, cancellation)
        } catch {
            throw Refusal(unreachable: error, what: "the keychain")
        }
    }

    /// Changes every match; `changes.hasData` determines whether `secret` replaces the value.
    package func update(
        _ query: ItemQuery, _ changes: ItemChanges, secret: borrowing SecretBytes?, password: borrowing SecretBytes? = nil,
        waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) {
        var changes = changes
        changes.hasData = secret != nil
        let request = KeychainRequest.update(query, changes, passwordBytes: try Self.passwordBytes(password))
        _ = try call(request, secret: secret, password: password, waiting: waiting, cancellation)
    }

    /// Removes every match. A password can be restored for a while, unless `atOnce` is true.
    package func delete(_ query: ItemQuery, atOnce: Bool = false, waiting: Waiting? = nil) throws(Refusal) {
        _ = try call(.delete(query, atOnce: atOnce), secret: nil, waiting: waiting)
    }

    /// Removes every match, of which there may be none.
    package func deleteIfPresent(_ query: ItemQuery) throws(Refusal) {
        do throws(Refusal) { try delete(query) } catch { guard error.reason == .itemNotFound else { throw error } }
    }

    /// Saves, deletes or picks a password of a website of this program's. A picked one is returned with its server, account and port.
    package func sharedPassword(
        _ request: SharedPasswordRequest, password: borrowing SecretBytes?, waiting: Waiting? = nil
    ) throws(Refusal) -> ReceivedItem? {
        try call(.sharedPassword(request), secret: password, waiting: waiting).found.first
    }

    /// Moves, renames or copies the one matching item, with these attributes replaced. The value does not leave keychaind.
    package func transfer(
        _ query: ItemQuery, _ attributes: ItemAttributes, keepsOriginal: Bool, waiting: Waiting? = nil
    ) throws(Refusal) {
        _ = try call(.transfer(query, attributes, keepsOriginal: keepsOriginal), secret: nil, waiting: waiting)
    }
}
