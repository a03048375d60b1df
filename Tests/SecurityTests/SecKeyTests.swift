// Keys of a program itself (Specs/secitem.md, 12): the operations of each type, its attributes, and its refusals.

import Foundation
import Security
import Testing

@Suite struct SecKeyTests {
    private static let curves = [256, 384, 521]
    private static let hashes = ["SHA1": 20, "SHA256": 32, "SHA384": 48, "SHA512": 64]
    private let message = Data("what is to be signed".utf8)

    private static func make(_ type: CFString, _ bits: Int) throws -> SecKey {
        var error: Unmanaged<CFError>?
        let key = SecKeyCreateRandomKey([kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits] as CFDictionary, &error)
        return try #require(key, "\(String(describing: error))")
    }

    private static let rsa = Result { try make(kSecAttrKeyTypeRSA, 2048) }

    private func curve(_ bits: Int) throws -> SecKey { try Self.make(kSecAttrKeyTypeECSECPrimeRandom, bits) }
    private func algorithm(_ name: String) -> SecKeyAlgorithm { SecKeyAlgorithm(rawValue: NSString(string: name)) }
    private func failure(_ body: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> Any?) -> OSStatus? {
        var error: Unmanaged<CFError>?
        guard body(&error) == nil, let report = error?.takeRetainedValue(), report.domain == NSOSStatusErrorDomain else { return nil }
        return OSStatus(report.code)
    }

    // MARK: Signatures

    @Test("An elliptic key signs messages and digests in both forms of signatures", arguments: curves, Array(hashes.keys))
    func curvesSignMessagesAndDigestsInBothForms(_ bits: Int, _ hash: String) throws {
        let key = try curve(bits)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let digest = Data(count: Self.hashes[hash] ?? 0) as CFData
        for form in ["X962", "RFC4754"] {
            for (kind, data) in [("message", message as CFData), ("digest", digest)] {
                let name = algorithm("algid:sign:ECDSA:\(kind)-\(form):\(hash)")
                let signature = try #require(SecKeyCreateSignature(key, name, data, nil))
                #expect(form == "X962" || (signature as Data).count == 2 * ((bits + 7) / 8))
                #expect(SecKeyVerifySignature(publicKey, name, data, signature, nil))
                // Another message, another key, a changed signature.
                #expect(
                    failure {
                        SecKeyVerifySignature(
                            publicKey, name, (kind == "digest" ? Data(repeating: 1, count: (data as Data).count) : Data()) as CFData,
                            signature, $0) ? 1 : nil
                    } == errSecVerifyFailed)
                #expect(
                    failure { SecKeyVerifySignature(publicKey, name, data, (signature as Data).dropLast() as NSData, $0) ? 1 : nil }
                        == errSecVerifyFailed)
            }
        }
        let stranger = try curve(bits)
        let other = try #require(SecKeyCopyPublicKey(stranger))
        let name = algorithm("algid:sign:ECDSA:message-X962:\(hash)")
        let signature = try #require(SecKeyCreateSignature(key, name, message as CFData, nil))
        #expect(!SecKeyVerifySignature(other, name, message as CFData, signature, nil))
    }

    @Test("An RSA key signs messages and digests with both paddings", arguments: Array(hashes.keys))
    func rsaSignsMessagesAndDigests(_ hash: String) throws {
        let key = try Self.rsa.get()
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let length = Self.hashes[hash] ?? 0
        for padding in ["PKCS1v15:\(hash)", "PSS:\(hash):\(hash):\(length)"] {
            for (kind, data) in [("message", message), ("digest", Data(repeating: 7, count: length))] {
                let name = algorithm("algid:sign:RSA:\(kind)-\(padding)")
                let signature = try #require(SecKeyCreateSignature(key, name, data as CFData, nil), "\(name)")
                #expect((signature as Data).count == 256)
                #expect(SecKeyVerifySignature(publicKey, name, data as CFData, signature, nil))
                #expect(!SecKeyVerifySignature(publicKey, name, Data(repeating: 8, count: data.count) as CFData, signature, nil))
            }
        }
    }

    @Test("A digest of the wrong length is refused") func digestMustHaveItsLength() throws {
        let key = try curve(256)
        #expect(failure { SecKeyCreateSignature(key, .ecdsaSignatureDigestX962SHA256, Data(count: 31) as CFData, $0) } == errSecParam)
        #expect(failure { SecKeyCreateSignature(key, .ecdsaSignatureDigestX962, Data() as CFData, $0) } == errSecParam)
        #expect(SecKeyCreateSignature(key, .ecdsaSignatureDigestX962, Data(count: 31) as CFData, nil) != nil)
        let rsa = try Self.rsa.get()
        #expect(failure { SecKeyCreateSignature(rsa, .rsaSignatureDigestPKCS1v15SHA256, Data(count: 20) as CFData, $0) } == errSecParam)
    }

    // MARK: Encryption and exchange

    @Test("An elliptic key decrypts what its public key encrypted", arguments: curves)
    func ellipticKeyDecryptsWhatItsPublicKeyEncrypted(_ bits: Int) throws {
        let key = try curve(bits)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        for exchange in ["ECDH", "ECDHC"] {
            for tail in Self.hashes.keys.map({ "\($0):AESGCM" }) + ["SHA256:AESGCM-KDFIV", "SHA384:AESGCM-KDFIV", "SHA512:AESGCM-KDFIV"] {
                let name = algorithm("algid:encrypt:ECIES:\(exchange):KDFX963:\(tail)")
                let packet = try #require(SecKeyCreateEncryptedData(publicKey, name, message as CFData, nil)) as Data
                // Ephemeral public key, ciphertext, tag.
                #expect(packet.count == 1 + 2 * ((bits + 7) / 8) + message.count + 16 && packet.first == 4)
                #expect(SecKeyCreateDecryptedData(key, name, packet as CFData, nil) as Data? == message)
                var changed = packet
                changed[changed.count - 1] ^= 1
                #expect(failure { SecKeyCreateDecryptedData(key, name, changed as CFData, $0) } == errSecParam)
                #expect(failure { SecKeyCreateDecryptedData(key, name, packet.prefix(40) as NSData, $0) } == errSecParam)
            }
        }
    }

    @Test("An RSA key decrypts what its public key encrypted") func rsaKeyDecryptsWhatItsPublicKeyEncrypted() throws {
        let key = try Self.rsa.get()
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        for name in [
            SecKeyAlgorithm.rsaEncryptionPKCS1, .rsaEncryptionOAEPSHA1, .rsaEncryptionOAEPSHA256, .rsaEncryptionOAEPSHA1AESGCM,
            .rsaEncryptionOAEPSHA256AESGCM,
        ] {
            let packet = try #require(SecKeyCreateEncryptedData(publicKey, name, message as CFData, nil))
            #expect(SecKeyCreateDecryptedData(key, name, packet, nil) as Data? == message)
        }
        let long = Data(repeating: 1, count: 5000)
        #expect(failure { SecKeyCreateEncryptedData(publicKey, .rsaEncryptionOAEPSHA256, long as CFData, $0) } == errSecParam)
        let hybrid = try #require(SecKeyCreateEncryptedData(publicKey, .rsaEncryptionOAEPSHA256AESGCM, long as CFData, nil))
        #expect(SecKeyCreateDecryptedData(key, .rsaEncryptionOAEPSHA256AESGCM, hybrid, nil) as Data? == long)
        #expect(failure { SecKeyCreateDecryptedData(key, .rsaEncryptionOAEPSHA256, Data(count: 256) as CFData, $0) } == errSecParam)
        var changed = hybrid as Data
        changed[changed.count - 1] ^= 1
        #expect(failure { SecKeyCreateDecryptedData(key, .rsaEncryptionOAEPSHA256AESGCM, changed as CFData, $0) } == errSecParam)
    }

    @Test("Both sides of a key exchange get the same secret", arguments: curves)
    func bothSidesOfAnExchangeAgree(_ bits: Int) throws {
        let (mine, theirs) = (try curve(bits), try curve(bits))
        let myPublic = try #require(SecKeyCopyPublicKey(mine))
        let theirPublic = try #require(SecKeyCopyPublicKey(theirs))
        func both(_ name: SecKeyAlgorithm, _ parameters: [CFString: Any]) -> (Data?, Data?) {
            (
                SecKeyCopyKeyExchangeResult(mine, name, theirPublic, parameters as CFDictionary, nil) as Data?,
                SecKeyCopyKeyExchangeResult(theirs, name, myPublic, parameters as CFDictionary, nil) as Data?
            )
        }
        let raw = both(.ecdhKeyExchangeStandard, [:])
        #expect(raw.0 != nil && raw.0 == raw.1 && raw.0?.count == (bits + 7) / 8)
        let derived = both(
            .ecdhKeyExchangeStandardX963SHA256,
            [kSecKeyKeyExchangeParameterRequestedSize: 40, kSecKeyKeyExchangeParameterSharedInfo: message])
        #expect(derived.0 != nil && derived.0 == derived.1 && derived.0?.count == 40)
        let other = both(.ecdhKeyExchangeStandardX963SHA256, [kSecKeyKeyExchangeParameterRequestedSize: 40])
        #expect(other.0 != derived.0)
        #expect(
            failure { SecKeyCopyKeyExchangeResult(mine, .ecdhKeyExchangeStandardX963SHA256, theirPublic, [:] as CFDictionary, $0) }
                == errSecParam)
        let another = try curve(bits == 256 ? 384 : 256)
        let elsewhere = try #require(SecKeyCopyPublicKey(another))
        #expect(failure { SecKeyCopyKeyExchangeResult(mine, .ecdhKeyExchangeStandard, elsewhere, [:] as CFDictionary, $0) } == errSecParam)
    }

    // MARK: Unsupported operations

    @Test("Unsupported algorithms are reported, and refused when they are used") func unsupportedAlgorithmsAreReportedAndRefused() throws {
        let key = try curve(256)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        #expect(SecKeyIsAlgorithmSupported(key, .sign, .ecdsaSignatureMessageX962SHA256))
        #expect(!SecKeyIsAlgorithmSupported(publicKey, .sign, .ecdsaSignatureMessageX962SHA256))
        #expect(SecKeyIsAlgorithmSupported(publicKey, .verify, .ecdsaSignatureMessageX962SHA256))
        #expect(!SecKeyIsAlgorithmSupported(key, .verify, .ecdsaSignatureMessageX962SHA256))
        #expect(!SecKeyIsAlgorithmSupported(key, .decrypt, .ecdsaSignatureMessageX962SHA256))
        for name in [
            SecKeyAlgorithm.ecdsaSignatureMessageX962SHA224, .rsaSignatureMessagePSSSHA256, .rsaSignatureRaw, algorithm("algid:sign:none"),
            algorithm(""),
        ] {
            #expect(!SecKeyIsAlgorithmSupported(key, .sign, name))
            #expect(failure { SecKeyCreateSignature(key, name, message as CFData, $0) } == errSecParam)
        }
        #expect(failure { SecKeyCreateSignature(publicKey, .ecdsaSignatureMessageX962SHA256, message as CFData, $0) } == errSecParam)
    }

    // MARK: External forms and attributes

    @Test("The external representation of a key creates the same key") func externalFormCreatesTheSameKey() throws {
        let keys = [try curve(256), try curve(384), try curve(521), try Self.rsa.get()]
        for key in keys {
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            for half in [key, publicKey] {
                let attributes = try #require(SecKeyCopyAttributes(half)) as NSDictionary
                let external = try #require(SecKeyCopyExternalRepresentation(half, nil))
                let again = try #require(SecKeyCreateWithData(external, attributes as CFDictionary, nil))
                #expect(again == half && again.hash == half.hash)
                #expect(attributes[kSecValueData] as? Data == external as Data)
            }
            #expect(SecKeyCopyPublicKey(key) != key)
            // Attributes of the item do not count.
            let external = try #require(SecKeyCopyExternalRepresentation(key, nil))
            let known = try #require(SecKeyCopyAttributes(key)) as NSDictionary
            let type = try #require(known[kSecAttrKeyType] as? String)
            let tagging: [CFString: Any] = [
                kSecAttrKeyType: type, kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecAttrApplicationTag: Data("tag".utf8),
            ]
            let tagged = try #require(SecKeyCreateWithData(external, tagging as CFDictionary, nil))
            #expect(tagged == key && tagged.hash == key.hash)
        }
        let sizes = try Self.curves.map { bits in
            let key = try curve(bits)
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            return [key, publicKey].map { (SecKeyCopyExternalRepresentation($0, nil) as Data?)?.count }
        }
        #expect(sizes == [[97, 65], [145, 97], [199, 133]])
    }

    @Test("An RSA key as a certificate or a PKCS #8 file contains it becomes the same key") func wrappedRSAKeyBecomesTheSameKey() throws {
        let key = try Self.rsa.get()
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        // The algorithm identifier of RSA (RFC 3279, 2.3.1).
        let algorithm: [UInt8] = [0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00]
        func node(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
        for (known, half) in [(publicKey, kSecAttrKeyClassPublic), (key, kSecAttrKeyClassPrivate)] {
            let external = try #require(SecKeyCopyExternalRepresentation(known, nil)) as Data
            let bytes = [UInt8](external)
            // A bit string without unused bits; version 0 before an octet string.
            var content = algorithm + node(0x03, [0x00] + bytes)
            if half == kSecAttrKeyClassPrivate { content = [0x02, 0x01, 0x00] + algorithm + node(0x04, bytes) }
            let attributes = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: half] as CFDictionary
            let made = try #require(SecKeyCreateWithData(Data(node(0x30, content)) as CFData, attributes, nil))
            #expect(made == known)
            #expect(SecKeyCopyExternalRepresentation(made, nil) as Data? == external)
        }
    }

    @Test("A key reports its class, type, size and other attributes") func keyReportsItsAttributes() throws {
        let key = try curve(256)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let mine = try #require(SecKeyCopyAttributes(key)) as NSDictionary
        let theirs = try #require(SecKeyCopyAttributes(publicKey)) as NSDictionary
        #expect(
            mine[kSecAttrKeyClass] as? String == kSecAttrKeyClassPrivate as String
                && theirs[kSecAttrKeyClass] as? String == kSecAttrKeyClassPublic as String)
        #expect(mine[kSecAttrKeyType] as? String == kSecAttrKeyTypeECSECPrimeRandom as String)
        #expect(mine[kSecAttrKeySizeInBits] as? Int == 256 && mine[kSecAttrEffectiveKeySize] as? Int == 256)
        #expect(mine[kSecAttrApplicationLabel] as? Data == theirs[kSecAttrApplicationLabel] as? Data)
        #expect((mine[kSecAttrApplicationLabel] as? Data)?.count == 20)
        for (name, inPrivate, inPublic) in [
            (kSecAttrCanSign, true, false), (kSecAttrCanVerify, false, true), (kSecAttrCanDecrypt, true, false),
            (kSecAttrCanEncrypt, false, true),
            (kSecAttrCanDerive, true, false), (kSecAttrIsPermanent, true, true), (kSecAttrIsExtractable, true, true),
            (kSecAttrIsSensitive, false, false),
        ] { #expect(mine[name] as? Bool == inPrivate && theirs[name] as? Bool == inPublic, "\(name)") }
        let rsa = try Self.rsa.get()
        #expect(SecKeyGetBlockSize(key) == 32 && SecKeyGetBlockSize(rsa) == 256)
        #expect(!"\(key)".contains((SecKeyCopyExternalRepresentation(key, nil) as Data?)?.base64EncodedString() ?? "?"))
        #expect(CFGetTypeID(key) == SecKeyGetTypeID())
    }

    @Test("Malformed keys are refused") func malformedKeysAreRefused() throws {
        func made(from bytes: Data, type: CFString, half: CFString) -> OSStatus? {
            failure { SecKeyCreateWithData(bytes as CFData, [kSecAttrKeyType: type, kSecAttrKeyClass: half] as CFDictionary, $0) }
        }
        for bytes in [Data(), Data(count: 65), Data(repeating: 4, count: 65), Data(count: 97), Data("-----BEGIN".utf8)] {
            #expect(made(from: bytes, type: kSecAttrKeyTypeECSECPrimeRandom, half: kSecAttrKeyClassPublic) == errSecParam)
            #expect(made(from: bytes, type: kSecAttrKeyTypeECSECPrimeRandom, half: kSecAttrKeyClassPrivate) == errSecParam)
            #expect(made(from: bytes, type: kSecAttrKeyTypeRSA, half: kSecAttrKeyClassPublic) == errSecParam)
            #expect(made(from: bytes, type: kSecAttrKeyTypeRSA, half: kSecAttrKeyClassPrivate) == errSecParam)
        }
        // A private number beside another key's public half.
        func external() throws -> Data {
            let key = try curve(256)
            return try #require(SecKeyCopyExternalRepresentation(key, nil)) as Data
        }
        let (one, other) = (try external(), try external())
        #expect(
            made(from: one.prefix(65) + other.suffix(32), type: kSecAttrKeyTypeECSECPrimeRandom, half: kSecAttrKeyClassPrivate)
                == errSecParam)
        #expect(made(from: one, type: kSecAttrKeyTypeAES, half: kSecAttrKeyClassSymmetric) == errSecParam)
        #expect(made(from: one, type: kSecAttrKeyTypeECSECPrimeRandom, half: kSecAttrKeyClassSymmetric) == errSecUnimplemented)
    }

    @Test("Unsupported key sizes and types are refused") func unsupportedKeySizesAreRefused() {
        func made(_ parameters: [CFString: Any]) -> OSStatus? { failure { SecKeyCreateRandomKey(parameters as CFDictionary, $0) } }
        #expect(made([kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 255]) == errSecKeySizeNotAllowed)
        #expect(made([kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 512]) == errSecKeySizeNotAllowed)
        #expect(made([kSecAttrKeyType: "nothing"]) == errSecParam)
        #expect(made([:]) == errSecParam)
    }

    // MARK: The older functions

    @Test("`SecKeyRawSign` signs what `SecKeyRawVerify` verifies") func olderFunctionsSignAndVerify() throws {
        let digest = [UInt8](repeating: 3, count: 32)
        for (key, padding) in [(try curve(256), SecPadding.PKCS1), (try Self.rsa.get(), .PKCS1SHA256)] {
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            var signature = [UInt8](repeating: 0, count: 300)
            var length = signature.count
            #expect(SecKeyRawSign(key, padding, digest, digest.count, &signature, &length) == errSecSuccess)
            #expect(length < 300 && SecKeyRawVerify(publicKey, padding, digest, digest.count, signature, length) == errSecSuccess)
            signature[length - 1] ^= 1
            #expect(SecKeyRawVerify(publicKey, padding, digest, digest.count, signature, length) == errSSLCrypto)
            var short = 10
            #expect(SecKeyRawSign(key, padding, digest, digest.count, &signature, &short) == errSecParam)
        }
        var (publicKey, privateKey): (SecKey?, SecKey?) = (nil, nil)
        #expect(
            SecKeyGeneratePair(
                [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256] as CFDictionary, &publicKey, &privateKey)
                == errSecSuccess)
        #expect(publicKey != nil && privateKey.flatMap(SecKeyCopyPublicKey) == publicKey)
    }

    @Test("`SecKeyDecrypt` decrypts what `SecKeyEncrypt` encrypted") func olderFunctionsEncryptAndDecrypt() throws {
        let key = try Self.rsa.get()
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        for padding in [SecPadding.PKCS1, .OAEP] {
            var (cipher, plain) = ([UInt8](repeating: 0, count: 256), [UInt8](repeating: 0, count: 256))
            var (cipherLength, plainLength) = (256, 256)
            #expect(SecKeyEncrypt(publicKey, padding, Array(message), message.count, &cipher, &cipherLength) == errSecSuccess)
            #expect(SecKeyDecrypt(key, padding, cipher, cipherLength, &plain, &plainLength) == errSecSuccess)
            #expect(Data(plain.prefix(plainLength)) == message)
        }
    }
}
