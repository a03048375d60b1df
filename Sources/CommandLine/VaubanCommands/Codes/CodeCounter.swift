import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
package import VaubanKeychainModel
import VaubanKeychainWire
import VaubanOneTimeCodes
import VaubanRefusal
package import VaubanSecretBytes
import VaubanUserModel

/// The counter of a counter-based key (RFC 4226), stored as decimal digits in its item's `kSecAttrGeneric`.
package enum CodeCounter {
    private static let roundsMax = 64

    /// Stores the first counter of a counter-based key in its item; leaves other keys unchanged.
    static func start(_ address: borrowing SecretBytes, in record: inout ItemRecord) {
        if let first = first(of: address) { record.attributes[.generic] = value(first) }
    }

    /// Stores the first counter in the record of a new counter-based key that has no counter yet; leaves other records unchanged.
    static func startIfMissing(_ address: borrowing SecretBytes, in record: inout ItemRecord) {
        guard isCodes(record), record.text(.generic).isEmpty else { return }
        start(address, in: &record)
    }

    /// Returns what a new value changes in the attributes of its item: the counter of a key of codes becomes that of the new address, or
    /// empty if that counts nothing. An earlier counter would skip or repeat codes of another key.
    package static func changes(to record: ItemRecord, for secret: borrowing SecretBytes) -> ItemAttributes {
        guard isCodes(record) else { return ItemAttributes() }
        if let first = first(of: secret) { return ItemAttributes([.generic: value(first)]) }
        return record.text(.generic).isEmpty ? ItemAttributes() : ItemAttributes([.generic: .text("")])
    }

    static func isCodes(_ record: ItemRecord) -> Bool {
        record.kind == .genericPassword && record.text(.service).hasPrefix(ImportPlan.codesPrefix)
    }

    /// Returns the first counter of a counter-based key; nil for anything else.
    private static func first(of address: borrowing SecretBytes) -> UInt64? {
        address.withUnsafeBytes { bytes in
            guard let address = try? OneTimeCodeAddress(bytes), case .counter(let first) = address.key.movement else { return nil }
            return first
        }
    }

    /// Refuses a counter-based key that other devices would share: each change of the counter there could undo one here.
    ///
    /// - Throws: `Refusal` with `badParameter`.
    static func checkIsLocal(_ record: ItemRecord, _ secret: borrowing SecretBytes) throws {
        guard record.number(.synchronizable) != 0, isCodes(record), first(of: secret) != nil else { return }
        throw Refusal(
            .badParameter,
            "\(record.name) counts its codes, so it cannot be synchronizable: with two devices, a counter could go back and repeat a code")
    }

    /// Returns the user's approval of both uses of a counter-based key, reading it and storing the next counter; nil for a key that needs
    /// none, and for every other key.
    static func permit(_ record: ItemRecord, reason: String, _ client: ServiceClient) throws -> Authorization? {
        guard !record.text(.generic).isEmpty, record.needsApproval, let control = record.accessControl, !control.needsApplicationPassword
        else {
            return nil
        }
        let mayPrompt = client.user.mayBePrompted || client.user.hasPreparedPasscode
        let evaluation = Evaluation(.control(control, .useItem), reason: reason, mayPrompt: mayPrompt)
        return try client.withUnlock { try client.withPrompts { try client.authentication.evaluate(evaluation, waiting: $0) } }
    }

    /// Takes the next counter: stores its successor and returns the counter once that is durable. The update matches the counter that it
    /// replaces, so of two concurrent calls one matches nothing and retries.
    ///
    /// - Parameter permit: The user's approval, if the key needs it.
    /// - Throws: `Refusal` with `unsupported` for a synchronizable item, whose counter another device could set back.
    static func take(of record: ItemRecord, first: UInt64, _ permit: Authorization?, _ client: ServiceClient) throws -> UInt64 {
        guard record.number(.synchronizable) == 0 else {
            throw Refusal(
                .unsupported,
                "\(record.name) counts its codes and is synchronizable, so another device could repeat one; delete it and add it again")
        }
        for _ in 0..<roundsMax {
            guard let current = try described(record, client) else {
                throw Refusal(.badParameter, "The counter of \(record.name) is missing; delete the item and add its code again")
            }
            guard current >= first, current < UInt64.max else {
                throw Refusal(.badParameter, "The counter of \(record.name) is out of range; delete the item and add its code again")
            }
            var query = try client.query(for: record)
            query.attributes[.generic] = value(current)
            query.authorization = permit?.ownHandle
            var changes = ItemAttributes()
            changes[.generic] = value(current + 1)
            let (wanted, change) = (query, ItemChanges(attributes: changes))
            do {
                try client.withUnlock { try client.withPrompts { try client.keychain.update(wanted, change, secret: nil, waiting: $0) } }
                return current
            } catch let refusal as Refusal where refusal.reason == .itemNotFound {
                continue
            }
        }
        throw Refusal(.unavailable, "Other programs are using codes of \(record.name); try again")
    }

    private static func described(_ record: ItemRecord, _ client: ServiceClient) throws -> UInt64? {
        var query = try client.query(for: record)
        query.returns.insert(.attributes)
        query.authenticationUI = .describe
        let wanted = query
        guard let now = try client.withUnlock({ try client.found(wanted) }).compactMap(\.record).first(where: { $0.isSameItem(as: record) })
        else { throw Refusal(.itemNotFound) }
        return UInt64(now.text(.generic))
    }

    private static func value(_ counter: UInt64) -> AttributeValue { .data(Array(String(counter).utf8)) }
}
