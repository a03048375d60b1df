import Foundation
import Security

/// Signatures over 32 bytes with a private key of the enclave without an access control, by clients that each fetched the key's reference
/// once.
enum Signing {
    private static let tag = Data("org.example.benchmarks.signing".utf8)
    private static let digest = Data((0..<32).map { UInt8($0 * 7 + 1) })
    private static let algorithm = SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256
    private static let reference = Result { try fetch() }

    /// Creates the key, measures, and prints the results in the format of the peers' client.
    static func run(clients: Int, seconds: Double) throws {
        try makeKey()
        defer { deleteKey() }
        let result = try Fleet.run(.sign, clients: clients, items: 0, seconds: seconds)
        let (rate, median, p99) = (Table.text(result.perSecond), Table.text(result.samples.median), Table.text(result.samples.p99))
        Table.say(#"{"per_s":\#(rate),"sign":{"med_us":\#(median),"p99_us":\#(p99)}}"#)
    }

    /// Times the call itself. Checks each time that a signature was returned, and verifies one before the work and at intervals: verifying
    /// takes longer than signing, and the peers' client does not do it.
    static func time() throws -> UInt64 {
        let key = try reference.get()
        let start = Samples.now
        let signature = SecKeyCreateSignature(key, algorithm, digest as CFData, nil)
        let time = Samples.now - start
        guard let signature else { throw Failure("a signature was refused") }
        count += 1
        if count % 4096 == 1, let half = SecKeyCopyPublicKey(key), !SecKeyVerifySignature(half, algorithm, digest as CFData, signature, nil)
        {
            throw Failure("a signature is wrong")
        }
        return time
    }

    /// Each client has only one thread.
    private nonisolated(unsafe) static var count = 0

    static func deleteKey() { _ = SecItemDelete([kSecClass: kSecClassKey, kSecAttrApplicationTag: tag] as CFDictionary) }

    static func makeKey() throws {
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag] as [CFString: Any],
        ]
        guard SecKeyCreateRandomKey(parameters as CFDictionary, nil) != nil else { throw Failure("the key could not be made") }
    }

    private static func fetch() throws -> SecKey {
        let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecReturnRef: true]
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        guard status == errSecSuccess, let key = found as? SecKey else { throw Failure("the key was not found: \(status)") }
        return key
    }
}
