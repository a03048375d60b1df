import Foundation
import Security

/// The items of the measurement, accessed by Security's public API only. Item i is the same in every run.
enum Items {
    static let service = "org.example.benchmark"

    static func account(_ index: Int) -> String { "account-\(index)@mail.example" }

    /// Returns the 32 bytes of item i.
    static func secret(_ index: Int) -> Data {
        var state = UInt64(index) &+ 0x9E37_79B9_7F4A_7C15
        return Data(
            (0..<32).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            })
    }

    /// Returns a query for exactly one item.
    static func identity(_ index: Int) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: account(index),
        ]
    }

    /// Ten items each have the same label.
    static let groupSize = 10
    static func label(_ group: Int) -> String { "Group \(group)" }

    static func add(_ index: Int) throws { _ = try timeAdd(index) }

    // MARK: Single calls and their time in nanoseconds; a wrong result throws

    static func timeAdd(_ index: Int) throws -> UInt64 {
        var item = identity(index)
        item[kSecAttrLabel as String] = label(index / groupSize)
        item[kSecValueData as String] = secret(index)
        let (status, time) = timed(item as CFDictionary) { SecItemAdd($0, nil) }
        try check(status, isIn: [errSecSuccess], when: "add item \(index)")
        return time
    }

    /// A get whose query and expected value are prepared, so that a rate of gets measures little else.
    struct Get {
        private let index: Int
        private let query: CFDictionary
        private let value: Data

        init(_ index: Int) {
            self.index = index
            query = identity(index).merging([kSecReturnData as String: true]) { $1 } as CFDictionary
            value = secret(index)
        }

        func time() throws -> UInt64 {
            var result: CFTypeRef?
            let (status, time) = timed(query) { SecItemCopyMatching($0, &result) }
            try check(status, isIn: [errSecSuccess], when: "read item \(index)")
            guard (result as? NSData)?.isEqual(to: value) == true else { throw Failure("item \(index) has another value") }
            return time
        }
    }

    static func timeGet(_ index: Int) throws -> UInt64 { try Get(index).time() }

    static func timeAttributes(_ index: Int) throws -> UInt64 {
        var result: CFTypeRef?
        let query = identity(index).merging([kSecReturnAttributes as String: true]) { $1 }
        let (status, time) = timed(query as CFDictionary) { SecItemCopyMatching($0, &result) }
        try check(status, isIn: [errSecSuccess], when: "describe item \(index)")
        guard (result as? [String: Any])?[kSecAttrAccount as String] as? String == account(index) else {
            throw Failure("item \(index) has other attributes")
        }
        return time
    }

    /// Searches by label, with ten references in the result.
    static func timeSearch(_ group: Int) throws -> UInt64 {
        var result: CFTypeRef?
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrLabel as String: label(group),
            kSecMatchLimit as String: kSecMatchLimitAll,
            kSecReturnPersistentRef as String: true,
        ]
        let (status, time) = timed(query as CFDictionary) { SecItemCopyMatching($0, &result) }
        try check(status, isIn: [errSecSuccess], when: "find group \(group)")
        guard (result as? [Data])?.count == groupSize else { throw Failure("group \(group) has not \(groupSize) items") }
        return time
    }

    static func timeUpdate(_ index: Int) throws -> UInt64 {
        let changes = [kSecValueData as String: secret(index)] as CFDictionary
        let (status, time) = timed(identity(index) as CFDictionary) { SecItemUpdate($0, changes) }
        try check(status, isIn: [errSecSuccess], when: "update item \(index)")
        return time
    }

    static func timeDelete(_ index: Int) throws -> UInt64 {
        let (status, time) = timed(identity(index) as CFDictionary) { SecItemDelete($0) }
        try check(status, isIn: [errSecSuccess], when: "delete item \(index)")
        return time
    }

    private static func timed(_ query: CFDictionary, _ call: (CFDictionary) -> OSStatus) -> (OSStatus, UInt64) {
        let start = Samples.now
        let status = call(query)
        return (status, Samples.now - start)
    }

    static func addIfMissing(_ index: Int) throws {
        let status = SecItemCopyMatching(identity(index) as CFDictionary, nil)
        try check(status, isIn: [errSecSuccess, errSecItemNotFound], when: "look for item \(index)")
        if status == errSecItemNotFound { try add(index) }
    }

    static func delete(_ index: Int) throws { _ = try timeDelete(index) }

    /// Times a read before the first unlock, whose refusal is the first reply that a starting service can give.
    static func timeRefusal() throws -> UInt64 {
        let query = identity(0).merging([kSecReturnData as String: true]) { $1 }
        let (status, time) = timed(query as CFDictionary) { SecItemCopyMatching($0, nil) }
        try check(status, isIn: [errSecInteractionNotAllowed], when: "be refused before the first unlock")
        return time
    }

    private static func check(_ status: OSStatus, isIn expected: [OSStatus], when what: String) throws {
        guard !expected.contains(status) else { return }
        let words = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? ""
        throw Failure("could not \(what): \(status) \(words)")
    }
}
