// CryptoKit's SecureEnclave under Apple's names, through the real rooms.

import CryptoKit
import Foundation
import LocalAuthentication
import Security
import Testing
import VaubanUserModel

extension AppleNames {
    @Suite("SecureEnclave")
    struct SecureEnclaveTests {
        let rooms: Rooms
        static let message = Data("a message".utf8)

        init() throws { rooms = try SharedRooms.use() }

        @Test("A key signs, and is restored from its data representation") func keySignsAndIsRestoredFromItsBytes() throws {
            #expect(SecureEnclave.isAvailable)
            let key = try SecureEnclave.P256.Signing.PrivateKey()
            let again = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: key.dataRepresentation)
            #expect(again.publicKey.rawRepresentation == key.publicKey.rawRepresentation)
            #expect(key.publicKey.isValidSignature(try again.signature(for: Self.message), for: Self.message))
            let digest = SHA384.hash(data: Self.message)
            #expect(key.publicKey.isValidSignature(try key.signature(for: digest), for: digest))
        }

        @Test("A key of the enclave and one in the process agree on a secret") func enclaveKeyAgreesWithAKeyInTheProcess() throws {
            let key = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            let other = P256.KeyAgreement.PrivateKey()
            let mine = try key.sharedSecretFromKeyAgreement(with: other.publicKey)
            let theirs = try other.sharedSecretFromKeyAgreement(with: key.publicKey)
            #expect(mine == theirs)
            func derived(_ secret: SharedSecret) -> SymmetricKey {
                secret.hkdfDerivedSymmetricKey(using: SHA256.self, salt: Data(), sharedInfo: Data("info".utf8), outputByteCount: 32)
            }
            #expect(derived(mine) == derived(theirs))
        }

        @Test("A key of the enclave opens what HPKE sealed for it") func enclaveKeyOpensWhatHPKESealed() throws {
            let key = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            let (suite, info) = (HPKE.Ciphersuite.P256_SHA256_AES_GCM_256, Data("info".utf8))
            var sender = try HPKE.Sender(recipientKey: key.publicKey, ciphersuite: suite, info: info)
            let sealed = try sender.seal(Self.message)
            var recipient = try HPKE.Recipient(
                privateKey: key, ciphersuite: suite, info: info, encapsulatedKey: sender.encapsulatedKey)
            let opened = try recipient.open(sealed)
            #expect(opened == Self.message)
        }

        @Test("A key prompts as its access control requires") func keyPromptsAsItsControlRequires() throws {
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [.privateKeyUsage, .userPresence], nil))
            let user = try rooms.user([.passcode(Rooms.passcode), .cancel])
            defer { user.leave() }
            let context = LAContext()
            context.localizedReason = "sign the order"
            let key = try SecureEnclave.P256.Signing.PrivateKey(accessControl: control, authenticationContext: context)
            #expect(key.publicKey.isValidSignature(try key.signature(for: Self.message), for: Self.message))
            #expect(user.requests.map(\.reason) == ["sign the order"])
            #expect(status { _ = try key.signature(for: Self.message) } == errSecUserCanceled)
        }

        private func status(_ body: () throws -> Void) -> OSStatus? {
            do { try body() } catch let error as NSError {
                return error.domain == NSOSStatusErrorDomain ? OSStatus(error.code) : nil
            }
            return errSecSuccess
        }

        @Test("Bytes that are not a key are refused") func bytesThatAreNoKeyAreRefused() throws {
            var bytes = try SecureEnclave.P256.Signing.PrivateKey().dataRepresentation
            #expect(throws: (any Error).self) { try SecureEnclave.MLDSA65.PrivateKey(dataRepresentation: bytes) }
            bytes[bytes.count - 1] ^= 1
            #expect(status { _ = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: bytes) } == errSecDecode)
            // Another public key in place of the key's own.
            let (mine, other) = (try SecureEnclave.P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
            var exchanged = mine.dataRepresentation
            let place = try #require(exchanged.firstRange(of: mine.publicKey.x963Representation))
            exchanged.replaceSubrange(place, with: other.publicKey.x963Representation)
            #expect(status { _ = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: exchanged) } == errSecDecode)
            #expect(throws: (any Error).self) { try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: Data(count: 12)) }
        }

        @Test("ML-DSA and ML-KEM keys work like those of P-256") func latticeKeysWorkLikeThoseOfP256() throws {
            let small = try SecureEnclave.MLDSA65.PrivateKey()
            #expect(small.publicKey.isValidSignature(try small.signature(for: Self.message), for: Self.message))
            let large = try SecureEnclave.MLDSA87.PrivateKey()
            let again = try SecureEnclave.MLDSA87.PrivateKey(dataRepresentation: large.dataRepresentation)
            #expect(large.publicKey.isValidSignature(try again.signature(for: Self.message), for: Self.message))
            let bytes = [UInt8](small.dataRepresentation)
            let restored = try SecureEnclave.MLDSA65.PrivateKey(dataRepresentation: bytes)
            #expect(restored.publicKey.rawRepresentation == small.publicKey.rawRepresentation)
            let agreed = try SecureEnclave.MLKEM768.PrivateKey()
            let sent = try agreed.publicKey.encapsulate()
            #expect(try agreed.decapsulate(sent.encapsulated) == sent.sharedSecret)
            let other = try SecureEnclave.MLKEM1024.PrivateKey()
            let more = try other.publicKey.encapsulate()
            #expect(try other.decapsulate(more.encapsulated) == more.sharedSecret)
        }
    }
}
