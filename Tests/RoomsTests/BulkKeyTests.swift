import Crypto
import Foundation
import Security
import TestSupport
import Testing

extension AppleNames {
    /// Data that is too large for a keychain is encrypted outside of it, and only its key is stored (C-005).
    @Suite("A file's key")
    struct BulkKeyTests {
        private let service = "bulk-\(UUID().uuidString)"

        init() throws { _ = try SharedRooms.use() }

        private func item(_ more: [CFString: Any]) -> CFDictionary {
            ([kSecClass: kSecClassGenericPassword, kSecAttrService: service] as [CFString: Any]).merging(more) { $1 } as CFDictionary
        }

        @Test("A large file is refused, but its key can be stored and opens the sealed file", .proves("C-005"))
        func largeFileIsSealedAndItsKeyStored() throws {
            let file = Data((0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            #expect(SecItemAdd(item([kSecValueData: file]), nil) == errSecDataTooLarge)
            #expect((SecCopyErrorMessageString(errSecDataTooLarge, nil) as String?)?.contains("store its key in the keychain") == true)

            let key = SymmetricKey(size: .bits256)
            let sealed = try #require(try AES.GCM.seal(file, using: key).combined)
            #expect(SecItemAdd(item([kSecValueData: key.withUnsafeBytes { Data($0) }]), nil) == errSecSuccess)

            var result: CFTypeRef?
            #expect(SecItemCopyMatching(item([kSecReturnData: true]), &result) == errSecSuccess)
            let kept = SymmetricKey(data: try #require(result as? Data))
            #expect(try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: kept) == file)
        }
    }
}
