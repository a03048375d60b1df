// The keychain's door, typed: one method for each request, and an end for each call.

internal import VaubanDER
package import VaubanAccessPolicy
package import VaubanKeychainModel
package import VaubanKeychainWire
package import VaubanLinuxHost
package import VaubanSecretBytes

/// One match. Its value, where it was asked for, can be taken once.
package final class FoundEntry {
    package let record: ItemRecord?
    private var secret: SecretBytes?

    init(record: ItemRecord?, secret: consuming SecretBytes?) {
        self.record = record
        self.secret = secret
    }

    /// The value; nil when the item has none, when it was not asked for, or when it was taken before.
    package func takeSecret() -> SecretBytes? { secret.take() }
}

/// Speaks to keychaind. `waiting` is called, on the caller's thread, when the person is being asked, with the place
/// where they are asked; from then on the call has the person's time, not the machine's.
package final class KeychainClient: Sendable {
    package typealias Waiting = (String) -> Void
    private let connection: ServiceConnection

    package init(service: Service) {
        connection = ServiceConnection(service: service, address: service.keychainDoor)
    }

    /// Adds an item; answers it if `returns` asks for something.
    package func add(
        _ record: ItemRecord, secret: borrowing SecretBytes?, returns: ReturnKinds = [], waiting: Waiting? = nil
    ) throws(Refusal) -> FoundEntry? {
        let request = KeychainRequest.add(record, returns: returns, hasData: secret != nil)
        return try call(request, secret: secret, waiting: waiting).first
    }

    /// The matches, in no particular order; at least one, or `itemNotFound`.
    package func copyMatching(_ query: ItemQuery, waiting: Waiting? = nil) throws(Refusal) -> [FoundEntry] {
        try call(.copyMatching(query), secret: nil, waiting: waiting)
    }

    /// Changes every match; `changes.hasData` says whether `secret` replaces the value.
    package func update(
        _ query: ItemQuery, _ changes: ItemChanges, secret: borrowing SecretBytes?, waiting: Waiting? = nil
    ) throws(Refusal) {
        var changes = changes
        changes.hasData = secret != nil
        _ = try call(.update(query, changes), secret: secret, waiting: waiting)
    }

    /// Removes every match.
    package func delete(_ query: ItemQuery, waiting: Waiting? = nil) throws(Refusal) {
        _ = try call(.delete(query), secret: nil, waiting: waiting)
    }

    private func call(_ request: KeychainRequest, secret: borrowing SecretBytes?, waiting: Waiting?) throws(Refusal) -> [FoundEntry] {
        let header: [UInt8]
        do { header = try request.encoded() } catch { throw Refusal(.internalFault, "the request cannot be encoded") }
        let outcome: Result<[FoundEntry], Refusal>
        do throws(HandshakeFault) {
            outcome = try answer(to: header, secret, waiting)
        } catch {
            throw Refusal(unreachable: error, what: "the keychain")
        }
        return try outcome.get()
    }

    private func answer(
        to header: [UInt8], _ secret: borrowing SecretBytes?, _ waiting: Waiting?
    ) throws(HandshakeFault) -> Result<[FoundEntry], Refusal> {
        let channel = try connection.send(header, secret)
        do throws(ChannelFault) { return try replies(on: channel, waiting) } catch { throw .channel(error) }
    }

    private func replies(on channel: Channel, _ waiting: Waiting?) throws(ChannelFault) -> Result<[FoundEntry], Refusal> {
        var entries: [FoundEntry] = []
        var patience = Patience.machine
        while true {
            var message = try channel.receive(patience)
            let reply: KeychainReply
            do { reply = try KeychainReply(derBytes: message.header) } catch { throw .malformed("\(error)") }
            switch reply {
            case .refused(let refusal):
                if refusal.reason != .malformed { connection.give(back: channel) }
                return .failure(refusal)
            case .done:
                connection.give(back: channel)
                return .success(entries)
            case .waitingForPerson(let place):
                patience = .for_(DoorLimits.personTime + DoorLimits.machineTime)
                waiting?(place)
            case .items(let found):
                patience = .machine
                for item in found {
                    let secret = item.hasData ? message.takeSecret() ?? SecretBytes(count: 0) { _ in } : nil
                    entries.append(FoundEntry(record: item.record, secret: secret))
                }
            }
        }
    }
}
