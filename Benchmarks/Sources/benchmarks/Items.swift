import Foundation
import Security

/// The items of the measurement, through Security's public names only. Item i is the same in every run.
enum Items {
    static let service = "org.example.benchmark"

    static func account(_ index: Int) -> String { "account-\(index)@mail.example" }

    /// 32 bytes that are those of item i.
    static func secret(_ index: Int) -> Data {
        var state = UInt64(index) &+ 0x9E37_79B9_7F4A_7C15
        return Data(
            (0..<32).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            })
    }

    /// What names one item exactly.
    static func identity(_ index: Int) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: account(index),
        ]
    }

    static func add(_ index: Int) throws {
        var item = identity(index)
        item[kSecAttrLabel as String] = "Item \(index)"
        item[kSecValueData as String] = secret(index)
        try check(SecItemAdd(item as CFDictionary, nil), [errSecSuccess], "add item \(index)")
    }

    static func addIfMissing(_ index: Int) throws {
        let status = SecItemCopyMatching(identity(index) as CFDictionary, nil)
        try check(status, [errSecSuccess, errSecItemNotFound], "look for item \(index)")
        if status == errSecItemNotFound { try add(index) }
    }

    static func delete(_ index: Int) throws {
        try check(SecItemDelete(identity(index) as CFDictionary), [errSecSuccess], "delete item \(index)")
    }

    private static func check(_ status: OSStatus, _ expected: [OSStatus], _ what: String) throws {
        guard !expected.contains(status) else { return }
        let words = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? ""
        throw Fault("could not \(what): \(status) \(words)")
    }
}
