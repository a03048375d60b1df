// `keychain-caller key VERB TAG [FLAGS|BYTES|COUNT|software]` uses private keys through Apple's API, for tests of results and of concurrent
// use: keys of the enclave, or with `software` those that are items, as `keep` makes one. Bytes are hexadecimal. It prints the status of
// its call, followed by the result.

import Foundation
import LocalAuthentication
import Security

struct KeyCaller {
    let verb: String
    let tag: Data
    let argument: String

    /// Parses what follows the word `key`; nil is a usage error.
    init?(_ words: [String]) {
        guard words.count >= 2 else { return nil }
        verb = words[0]
        tag = Data(words[1].utf8)
        argument = words.count > 2 ? words[2] : ""
    }

    static let usage = "keychain-caller key make|keep|find|public|sign|decrypt|exchange|storm|delete TAG [FLAGS|BYTES|COUNT|software]"

    func run() -> Never {
        var error: Unmanaged<CFError>?
        switch verb {
        case "make": make()
        case "keep": keep()
        case "find":
            _ = key()
            end(errSecSuccess)
        case "public": end(errSecSuccess, SecKeyCopyPublicKey(key()).flatMap { SecKeyCopyExternalRepresentation($0, nil) as Data? })
        case "sign":
            let signature = SecKeyCreateSignature(key(), .ecdsaSignatureMessageX962SHA256, bytes(argument) as CFData, &error) as Data?
            end(signature == nil ? status(error) : errSecSuccess, signature)
        case "decrypt":
            let algorithm = SecKeyAlgorithm.eciesEncryptionStandardVariableIVX963SHA256AESGCM
            let plain = SecKeyCreateDecryptedData(key(), algorithm, bytes(argument) as CFData, &error) as Data?
            end(plain == nil ? status(error) : errSecSuccess, plain)
        case "exchange":
            let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic]
            guard let other = SecKeyCreateWithData(bytes(argument) as CFData, attributes as CFDictionary, &error) else {
                end(status(error))
            }
            let shared =
                SecKeyCopyKeyExchangeResult(key(), .ecdhKeyExchangeStandard, other, [:] as [String: Any] as CFDictionary, &error) as Data?
            end(shared == nil ? status(error) : errSecSuccess, shared)
        case "storm": storm()
        case "delete": end(SecItemDelete(query().filter { $0.key != kSecReturnRef } as CFDictionary))
        default: exit(64)
        }
    }

    func bytes(_ hex: String) -> Data {
        let digits = Array(hex.utf8)
        return Data(
            stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
            })
    }

    func text(_ data: Data) -> String { data.map { String(format: "%02x", $0) }.joined() }

    func end(_ status: OSStatus, _ data: Data? = nil) -> Never {
        print(data.map { "\(status) \(text($0))" } ?? "\(status)")
        exit(0)
    }

    func status(_ error: Unmanaged<CFError>?) -> OSStatus { OSStatus(error?.takeRetainedValue().code ?? Int(errSecInternal)) }

    func query() -> [CFString: Any] {
        var query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecReturnRef: true]
        if !argument.contains("software") { query[kSecAttrTokenID] = kSecAttrTokenIDSecureEnclave }
        return query
    }

    func key() -> SecKey {
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query() as CFDictionary, &found)
        guard status == errSecSuccess, let key = found as? SecKey else { end(status) }
        return key
    }

    func make() -> Never {
        var flags: SecAccessControlCreateFlags = .privateKeyUsage
        if argument.contains("presence") { flags.insert(.userPresence) }
        let protection = argument.contains("first") ? kSecAttrAccessibleAfterFirstUnlock : kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        guard let control = SecAccessControlCreateWithFlags(nil, protection, flags, nil) else { end(errSecParam) }
        let wanted: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag, kSecAttrAccessControl: control]
                as [CFString: Any],
        ]
        var error: Unmanaged<CFError>?
        end(SecKeyCreateRandomKey(wanted as CFDictionary, &error) == nil ? status(error) : errSecSuccess)
    }

    /// Stores a new key that is not in the enclave.
    func keep() -> Never {
        let wanted: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag] as [CFString: Any],
        ]
        var error: Unmanaged<CFError>?
        end(SecKeyCreateRandomKey(wanted as CFDictionary, &error) == nil ? status(error) : errSecSuccess)
    }

    /// Returns a status as text, or `unanswered` if the call got no answer in time, which this thread's last call knows.
    func outcome(_ status: OSStatus) -> String {
        let message = SecCopyErrorMessageString(status, nil) as String?
        return status == errSecNotAvailable && message?.contains("not answer") == true ? "unanswered" : "\(status)"
    }

    /// Signs repeatedly, and counts the results by status; an invalid signature has none.
    func storm() -> Never {
        let (message, count) = (Data("storm".utf8) as CFData, Int(argument) ?? 1)
        var outcomes: [String: Int] = [:]
        var (known, half): (SecKey?, SecKey?)
        for _ in 0..<count {
            if known == nil {
                var found: CFTypeRef?
                let status = SecItemCopyMatching(query() as CFDictionary, &found)
                known = found as? SecKey
                half = known.flatMap { SecKeyCopyPublicKey($0) }
                if known == nil { outcomes[outcome(status), default: 0] += 1 }
            }
            guard let known, let half else { continue }
            var error: Unmanaged<CFError>?
            let signature = SecKeyCreateSignature(known, .ecdsaSignatureMessageX962SHA256, message, &error)
            let isRight = signature.map { SecKeyVerifySignature(half, .ecdsaSignatureMessageX962SHA256, message, $0, nil) }
            outcomes[isRight.map { $0 ? "right" : "WRONG" } ?? outcome(status(error)), default: 0] += 1
        }
        print(outcomes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
        exit(0)
    }
}
