import VaubanKeychainClient
import VaubanKeychainModel
package import VaubanKeychainWire
package import VaubanLinuxHost
package import VaubanRefusal

/// An earlier value of an item, as it was listed. The service counts values from the newest one, so a number from a list becomes that of
/// another value as soon as the item gets a new one.
package struct EarlierValue: Hashable, Sendable {
    private let version: ItemVersion

    package init(_ version: ItemVersion) { self.version = version }

    /// When it was replaced, in words.
    package var replaced: String { ItemPage.text(ofTime: version.replaced) }

    /// Returns the present number of the value; 1 is the one before the current value. Throws `itemNotFound` if the history no longer has
    /// it.
    package func number(in versions: [ItemVersion]) throws(Refusal) -> Int {
        guard let place = versions.firstIndex(of: version) else { throw Self.changed }
        return place + 1
    }

    /// Throws `itemNotFound` if a received value is another one, because the history was changed after the number was determined.
    func check(_ entry: ReceivedItem) throws(Refusal) {
        guard entry.record == version.record else { throw Self.changed }
    }

    private static var changed: Refusal {
        Refusal(.itemNotFound, "The history has changed meanwhile; go back and open it again")
    }
}

extension ItemKeychain {
    /// Returns the earlier values of an item, newest first.
    package func earlierValues(of row: ItemRow, waiting: @escaping Waiting, cancellation: CallCancellation) throws -> [EarlierValue] {
        let versions: [ItemVersion]
        do throws(Refusal) {
            versions = try self.versions(of: row, waiting: waiting, cancellation: cancellation)
        } catch {
            guard error.reason == .itemNotFound else { throw error }
            return []
        }
        return versions.map { EarlierValue($0) }
    }

    private func versions(of row: ItemRow, waiting: @escaping Waiting, cancellation: CallCancellation) throws(Refusal) -> [ItemVersion] {
        try keychain.earlierValues(of: query(for: row), waiting: waiting, cancellation: cancellation)
    }

    package func earlierSecret(
        _ value: EarlierValue, of row: ItemRow, for verb: String, waiting: @escaping Waiting, cancellation: CallCancellation
    ) throws -> ItemSecret {
        let number = try value.number(in: versions(of: row, waiting: waiting, cancellation: cancellation))
        var query = query(for: row)
        query.operationPrompt = Self.reason("\(verb) an earlier password of", row)
        let entry = try keychain.earlierValue(number, of: query, waiting: waiting, cancellation: cancellation)
        try value.check(entry)
        guard let secret = entry.takeSecret() else {
            throw Refusal(.itemNotFound, "The item had no secret at that time")
        }
        return ItemSecret(secret)
    }

    /// Restores an earlier value; the current one becomes the newest earlier value.
    package func putBack(_ value: EarlierValue, of row: ItemRow, waiting: @escaping Waiting, cancellation: CallCancellation) throws {
        let number = try value.number(in: versions(of: row, waiting: waiting, cancellation: cancellation))
        var query = query(for: row)
        query.operationPrompt = Self.reason("restore an earlier password of", row)
        try keychain.putBack(number, of: query, waiting: waiting, cancellation: cancellation)
    }
}
