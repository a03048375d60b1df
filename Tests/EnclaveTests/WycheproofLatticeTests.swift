import Crypto
import Enclave
import Foundation
import Testing
import VaubanKeyWire
import VaubanSecretBytes

/// The vectors of Project Wycheproof for lattice keys, against the enclave's functions.
@Suite struct WycheproofLatticeTests {
    private struct File: Decodable {
        struct Group: Decodable {
            let privateSeed: String?
            let publicKey: String?
            let tests: [Case]
        }
        struct Case: Decodable {
            let tcId: Int
            let result: String
            let msg: String?
            let seed: String?
            let c: String?
            let K: String?
        }
        let numberOfTests: Int
        let testGroups: [Group]

        static func read(_ name: String, file: String = #filePath) throws -> File {
            let root = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            return try JSONDecoder().decode(
                File.self, from: Data(contentsOf: root.appendingPathComponent("Vectors/wycheproof/\(name).json")))
        }
    }

    @Test(
        "A seed of Wycheproof's ML-DSA vectors yields its key",
        arguments: [("mldsa_65_sign_seed", EnclaveKeyKind.mldsa65), ("mldsa_87_sign_seed", .mldsa87)])
    func seedYieldsItsKey(_ name: String, _ kind: EnclaveKeyKind) throws {
        let file = try File.read(name)
        var tried = 0
        for group in file.testGroups {
            let seed = SecretBytes(copying: bytes(try #require(group.privateSeed)))
            let key = try SoftwareKey(kind, seed, for: .sign)
            let half = bytes(try #require(group.publicKey))
            for test in group.tests {
                let message = bytes(try #require(test.msg))
                guard case .signature(let signature) = try key.use(message) else {
                    Issue.record("\(test.tcId) is not signed")
                    continue
                }
                let isValid =
                    kind == .mldsa65
                    ? try MLDSA65.PublicKey(rawRepresentation: half).isValidSignature(signature, for: message)
                    : try MLDSA87.PublicKey(rawRepresentation: half).isValidSignature(signature, for: message)
                #expect(isValid, "\(test.tcId)")
                tried += 1
            }
        }
        #expect(tried == file.numberOfTests && tried > 50)
    }

    /// An altered ciphertext gives another secret and no error, as FIPS 203 specifies; one of a wrong length is refused.
    @Test(
        "An encapsulated secret of Wycheproof's ML-KEM vectors is recovered",
        arguments: [("mlkem_768", EnclaveKeyKind.mlkem768), ("mlkem_1024", .mlkem1024)])
    func encapsulatedSecretIsRecovered(_ name: String, _ kind: EnclaveKeyKind) throws {
        let file = try File.read(name)
        var tried = 0
        for test in file.testGroups.flatMap(\.tests) {
            let seed = SecretBytes(copying: bytes(try #require(test.seed)))
            let expected = bytes(try #require(test.K))
            let found = try? shared(kind, seed: seed, encapsulated: bytes(try #require(test.c)))
            #expect(test.result == "valid" ? found == expected : found == nil || found != expected, "\(test.tcId)")
            tried += 1
        }
        #expect(tried == file.numberOfTests && tried > 100)
    }

    private func shared(_ kind: EnclaveKeyKind, seed: borrowing SecretBytes, encapsulated: [UInt8]) throws -> [UInt8]? {
        switch try SoftwareKey(kind, seed, for: .decapsulate).use(encapsulated) {
        case .shared(let secret): secret.withUnsafeBytes { Array($0) }
        case .signature: nil
        }
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
    }
}
