// Keys created and stored in one call (Specs/secitem.md, 12.1).

import Foundation
import Security
import Testing

extension AppleNames {
    @Suite("Conformance: keys")
    struct KeyTests {
        private let tag = Data("app.example.key.\(UUID().uuidString)".utf8)

        init() throws { try Conformance.prepare() }

        private func keys(_ half: CFString) -> [SecKey] {
            var found: CFTypeRef?
            let query: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecAttrKeyClass: half, kSecReturnRef: true,
                kSecMatchLimit: kSecMatchLimitAll,
            ]
            return SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess ? found as? [SecKey] ?? [] : []
        }

        private func make(_ privateKey: [CFString: Any], _ publicKey: [CFString: Any] = [:]) -> (key: SecKey?, status: OSStatus) {
            var error: Unmanaged<CFError>?
            let parameters: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256, kSecAttrApplicationTag: tag,
                kSecPrivateKeyAttrs: privateKey, kSecPublicKeyAttrs: publicKey,
            ]
            let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error)
            return (key, OSStatus(error?.takeRetainedValue().code ?? 0))
        }

        @Test("A permanent key pair is found and can be used") func permanentKeyPairIsFoundAndUsable() throws {
            let made = try #require(make([kSecAttrIsPermanent: true], [kSecAttrIsPermanent: true]).key)
            let privateKey = try #require(keys(kSecAttrKeyClassPrivate).first)
            let publicKey = try #require(keys(kSecAttrKeyClassPublic).first)
            #expect(keys(kSecAttrKeyClassPrivate).count == 1 && keys(kSecAttrKeyClassPublic).count == 1)
            let message = Data("to be signed".utf8) as CFData
            let signature = try #require(SecKeyCreateSignature(privateKey, .ecdsaSignatureMessageX962SHA256, message, nil))
            #expect(SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil))
            let half = try #require(SecKeyCopyPublicKey(made))
            #expect(SecKeyVerifySignature(half, .ecdsaSignatureMessageX962SHA256, message, signature, nil))
        }

        @Test("Keys that are not permanent are not stored") func transientKeysAreNotStored() {
            #expect(make([:]).key != nil && keys(kSecAttrKeyClassPrivate).isEmpty && keys(kSecAttrKeyClassPublic).isEmpty)
            // The public key is permanent only if its own dictionary requests that.
            #expect(make([kSecAttrIsPermanent: true]).key != nil)
            #expect(keys(kSecAttrKeyClassPrivate).count == 1 && keys(kSecAttrKeyClassPublic).isEmpty)
        }

        @Test("If one half of a key pair cannot be stored, neither is") func incompleteKeyPairIsRefused() {
            let made = make([kSecAttrIsPermanent: true], [kSecAttrIsPermanent: true, kSecAttrAccessible: "nothing"])
            #expect(made.key == nil && made.status == errSecParam)
            #expect(keys(kSecAttrKeyClassPrivate).isEmpty && keys(kSecAttrKeyClassPublic).isEmpty)
        }
    }
}
