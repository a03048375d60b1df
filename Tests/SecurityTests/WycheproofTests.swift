// The vectors of Project Wycheproof, each through the public functions of SecKey: valid signatures and ciphertexts, and invalid ones that
// libraries have accepted.

import Foundation
import Security
import Testing

@Suite struct WycheproofTests {
    struct Signatures: Sendable, CustomTestStringConvertible {
        let file: String
        let algorithm: SecKeyAlgorithm
        let type: String
        var testDescription: String { file }

        static let all = [
            Signatures(file: "ecdsa_secp256r1_sha256", algorithm: .ecdsaSignatureMessageX962SHA256, type: "73"),
            Signatures(file: "ecdsa_secp256r1_sha256_p1363", algorithm: .ecdsaSignatureMessageRFC4754SHA256, type: "73"),
            Signatures(file: "ecdsa_secp384r1_sha384", algorithm: .ecdsaSignatureMessageX962SHA384, type: "73"),
            Signatures(file: "ecdsa_secp521r1_sha512", algorithm: .ecdsaSignatureMessageX962SHA512, type: "73"),
            Signatures(file: "rsa_signature_2048_sha256", algorithm: .rsaSignatureMessagePKCS1v15SHA256, type: "42"),
            Signatures(file: "rsa_pss_2048_sha256_mgf1_32", algorithm: .rsaSignatureMessagePSSSHA256, type: "42"),
        ]
    }

    @Test("Wycheproof's valid signatures verify, and its invalid ones do not", arguments: Signatures.all)
    func signatures(_ what: Signatures) throws {
        var tried = 0
        for group in try Vectors(what.file).groups {
            let external = group["publicKeyAsn"] as? String ?? (group["publicKey"] as? [String: Any])?["uncompressed"] as? String
            let parsed = self.key(external ?? "", type: what.type, half: "0")
            let key = try #require(parsed)
            for test in group.tests {
                let (message, signature) = (test.bytes("msg"), test.bytes("sig"))
                var error: Unmanaged<CFError>?
                let isValid = SecKeyVerifySignature(key, what.algorithm, message as CFData, signature as CFData, &error)
                let code = error?.takeRetainedValue().code
                switch test.result {
                case "valid": #expect(isValid, "\(what.file) \(test.number)")
                case "invalid": #expect(!isValid && code == Int(errSecVerifyFailed), "\(what.file) \(test.number)")
                default: break
                }
                tried += 1
            }
        }
        let count = try Vectors(what.file).count
        #expect(tried == count)
    }

    @Test(
        "Key exchanges agree with Wycheproof's shared secrets, and invalid points yield none",
        arguments: [("ecdh_secp256r1_ecpoint", 32), ("ecdh_secp384r1_ecpoint", 48), ("ecdh_secp521r1_ecpoint", 66)])
    func exchanges(_ file: String, _ bytes: Int) throws {
        var agreed = 0
        for group in try Vectors(file).groups {
            for test in group.tests {
                // Our keys have a fixed length, and a key reports its own public half.
                guard let mine = privateKey(test.bytes("private"), coordinateBytes: bytes) else { continue }
                let theirs = key(test.text("public"), type: "73", half: "0")
                let shared = theirs.flatMap {
                    SecKeyCopyKeyExchangeResult(mine, .ecdhKeyExchangeStandard, $0, [:] as CFDictionary, nil) as Data?
                }
                switch test.result {
                case "valid":
                    #expect(shared == test.bytes("shared"), "\(file) \(test.number)")
                    agreed += 1
                case "invalid": #expect(shared == nil, "\(file) \(test.number)")
                // A compressed point, for example: accepted or not, the result must be correct.
                default: #expect(shared == nil || shared == test.bytes("shared"), "\(file) \(test.number)")
                }
            }
        }
        #expect(agreed > 100)
    }

    @Test(
        "Wycheproof's valid ciphertexts decrypt to their messages, and its invalid ones fail",
        arguments: [
            ("rsa_oaep_2048_sha1_mgf1sha1", SecKeyAlgorithm.rsaEncryptionOAEPSHA1),
            ("rsa_oaep_2048_sha256_mgf1sha256", .rsaEncryptionOAEPSHA256),
            ("rsa_pkcs1_2048", .rsaEncryptionPKCS1),
        ])
    func decryptions(_ file: String, _ algorithm: SecKeyAlgorithm) throws {
        var opened = 0
        for group in try Vectors(file).groups {
            let external = try pkcs1(group)
            let key = try #require(SecKeyCreateWithData(external as CFData, attributes("42", "1"), nil))
            for test in group.tests where test.text("label").isEmpty {
                let plain = SecKeyCreateDecryptedData(key, algorithm, test.bytes("ct") as CFData, nil) as Data?
                switch test.result {
                case "valid":
                    #expect(plain == test.bytes("msg"), "\(file) \(test.number)")
                    opened += 1
                case "invalid": #expect(plain == nil, "\(file) \(test.number)")
                default: break
                }
            }
        }
        #expect(opened > 5)
    }

    // MARK: Keys of the vectors

    private func attributes(_ type: String, _ half: String) -> CFDictionary {
        [kSecAttrKeyType: type, kSecAttrKeyClass: half] as CFDictionary
    }

    private func key(_ hex: String, type: String, half: String) -> SecKey? {
        SecKeyCreateWithData(Data(hex: hex) as CFData, attributes(type, half), nil)
    }

    /// Returns a key from the private number, which is all that the vectors have; swift-crypto derives its public half.
    private func privateKey(_ number: Data, coordinateBytes: Int) -> SecKey? {
        let padded = Data(count: max(coordinateBytes - number.count, 0)) + number.suffix(coordinateBytes)
        guard let external = PublicHalf.x963(of: padded) else { return nil }
        return SecKeyCreateWithData(external as CFData, attributes("73", "1"), nil)
    }

    /// Returns the PKCS #1 key of a group: at these sizes, PKCS #8 is that key after a header of 26 bytes.
    private func pkcs1(_ group: VectorGroup) throws -> Data {
        Data(try #require(group["privateKeyPkcs8"] as? String).hexBytes.dropFirst(26))
    }
}
