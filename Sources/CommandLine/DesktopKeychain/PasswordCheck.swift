import VaubanKeychainClient
package import VaubanKeychainModel
package import VaubanLinuxHost
import VaubanRefusal
package import VaubanSecretBytes

/// The passwords that should be changed. They are found on this machine, without a network, from their values, which are not kept.
package struct PasswordCheck: Sendable {
    /// A password with fewer characters counts as short.
    package static let charactersMin = 12
    private static let microsecondsMax: Int64 = 365 * 24 * 3600 * 1_000_000

    /// Items that share their password with another one; those with the same password are adjacent.
    package fileprivate(set) var reused: [ItemRow] = []
    package fileprivate(set) var short: [ItemRow] = []
    /// Items that have not changed for a year.
    package fileprivate(set) var old: [ItemRow] = []
    /// The number of different passwords that several items have.
    package fileprivate(set) var reusedPasswords = 0
    package fileprivate(set) var checked = 0
    /// The number of passwords that were not read, since reading them needs the user's approval, or that were added meanwhile.
    package fileprivate(set) var leftOut = 0

    /// Collects the results while the values are read.
    package final class Gathering {
        private let digests: SecretDigests
        private let now: Int64
        private var references: [ItemList.Reference] = []
        private var short: [ItemList.Reference] = []
        private var old: [ItemList.Reference] = []

        /// `now` in microseconds since the reference date.
        package init(countMax: Int, now: Int64) {
            digests = SecretDigests(countMax: countMax)
            self.now = now
        }

        package func add(_ record: ItemRecord, reference: [UInt8], secret: borrowing SecretBytes) {
            guard ItemSection(of: record) == .passwords, digests.add(secret) else { return }
            let reference = ItemList.Reference(reference)
            references.append(reference)
            if secret.withUnsafeBytes(PasswordCheck.isShort) { short.append(reference) }
            if case .date(let changed)? = record.attributes[.modificationDate], now - changed > microsecondsMax { old.append(reference) }
        }

        /// Returns the results, in the order of the list.
        package func check(of list: ItemList) -> PasswordCheck {
            let groups = digests.groups().map { $0.map { references[$0] } }
            var rows: [ItemList.Reference: Int] = [:]
            for (position, reference) in list.references.enumerated() { rows[reference] = position }
            func found(_ references: [ItemList.Reference]) -> [ItemRow] { references.compactMap { rows[$0] }.sorted().map { list[$0] } }
            var check = PasswordCheck()
            let reused = groups.map(found).filter { $0.count > 1 }
            check.reused = reused.sorted { $0[0].title.lowercased() < $1[0].title.lowercased() }.flatMap(\.self)
            check.reusedPasswords = reused.count
            check.short = found(short)
            check.old = found(old)
            check.checked = references.count
            check.leftOut = max(list.count(in: .passwords) - references.count, 0)
            return check
        }
    }

    /// Returns whether a secret is a text with few characters.
    private static func isShort(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !bytes.isEmpty, !bytes.contains(0), UTF8Validity.isValid(bytes) else { return false }
        // Counts all bytes except those that continue a character.
        return bytes.count { $0 & 0xC0 != 0x80 } < charactersMin
    }
}

extension ItemKeychain {
    /// Reads all passwords that need no approval, one after the other, and returns those that should be changed. Each read is recorded in
    /// the access log. Calls `progress` now and then with the number of passwords so far.
    package func checkPasswords(
        of list: ItemList, now: Int64, cancellation: CallCancellation, progress: @escaping (Int) -> Void
    ) throws -> PasswordCheck {
        let gathering = PasswordCheck.Gathering(countMax: list.count(in: .passwords), now: now)
        var read = 0
        for kind in [ItemKind.genericPassword, .internetPassword] {
            var query = ItemQuery(kind: kind)
            query.limit = .all
            query.returns = [.data, .attributes, .reference]
            query.includesSynchronizable = true
            query.authenticationUI = .skip
            try forEachFound(query, cancellation: cancellation) { entry in
                guard let record = entry.record, let reference = entry.reference, let secret = entry.takeSecret() else { return }
                gathering.add(record, reference: reference, secret: secret)
                read += 1
                if read.isMultiple(of: 1000) { progress(read) }
            }
        }
        return gathering.check(of: list)
    }
}
