import Foundation
import Security

/// One kind of query, prepared for each item so that only the call itself is timed.
struct TimedQuery {
    struct Answer {
        let status: OSStatus
        let result: CFTypeRef?
    }

    private let queries: [CFDictionary]
    private let expected: OSStatus
    private let isRight: (Int, CFTypeRef?) -> Bool

    private init(
        _ items: Int, expecting expected: OSStatus, with more: [String: Any],
        isRight: @escaping (Int, CFTypeRef?) -> Bool = { _, result in result == nil },
        identity: (Int) -> [String: Any] = Items.identity
    ) {
        queries = (0..<items).map { identity($0).merging(more) { $1 } as CFDictionary }
        self.expected = expected
        self.isRight = isRight
    }

    /// Runs the query for the items in this order.
    func measure(_ order: some Collection<Int>) throws -> Samples {
        let order = Array(order)
        return try Samples(order.count) { turn in
            var result: CFTypeRef?
            let status = SecItemCopyMatching(queries[order[turn]], &result)
            return Answer(status: status, result: result)
        } check: { turn, answer in
            // A query with a wrong result must not be counted.
            guard answer.status == expected, isRight(order[turn], answer.result) else {
                let words = SecCopyErrorMessageString(answer.status, nil).map { $0 as String } ?? ""
                throw Failure("item \(order[turn]): \(answer.status) instead of \(expected), or a wrong answer. \(words)")
            }
        }
    }

    // MARK: The queries

    /// Searches by service and account, with the value.
    static func value(_ items: Int) -> TimedQuery {
        let secrets = (0..<items).map { Items.secret($0) }
        return TimedQuery(items, expecting: errSecSuccess, with: [kSecReturnData as String: true]) { $1 as? Data == secrets[$0] }
    }

    static func attributes(_ items: Int) -> TimedQuery {
        TimedQuery(items, expecting: errSecSuccess, with: [kSecReturnAttributes as String: true]) {
            ($1 as? [String: Any])?[kSecAttrAccount as String] as? String == Items.account($0)
        }
    }

    static func existence(_ items: Int) -> TimedQuery { TimedQuery(items, expecting: errSecSuccess, with: [:]) }

    /// Searches for an item that does not exist, which the index alone shows.
    static func absence(_ items: Int) -> TimedQuery {
        TimedQuery(items, expecting: errSecItemNotFound, with: [:], identity: { Items.identity(-1 - $0) })
    }

    /// Searches keychaind's own access group, which keychaind refuses before any look-up, so this measures the round trip alone.
    static func foreignGroup(_ items: Int) -> TimedQuery {
        TimedQuery(items, expecting: errSecMissingEntitlement, with: [kSecAttrAccessGroup as String: "vauban.permissions"])
    }

    /// Passes a limit that Security refuses after parsing the dictionary, so no other process is involved.
    static func badLimit(_ items: Int) -> TimedQuery { TimedQuery(items, expecting: errSecParam, with: [kSecMatchLimit as String: -1]) }
}
