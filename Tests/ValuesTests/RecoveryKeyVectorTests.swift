import Foundation
import TestSupport
import Testing
import VaubanPasscode
import VaubanSecretBytes

/// Vectors/recovery-key.json: keys as they are typed, with the bytes that they encode or the error.
@Suite struct RecoveryKeyVectorTests {
    private struct File: Decodable {
        struct Vector: Decodable {
            let digits: String
            let key: String?
            let failure: String?
        }

        let vectors: [Vector]
    }

    @Test("The recovery keys of the vectors are read or refused") func recoveryKeyVectorsAreReadOrRefused() throws {
        let file = WireVectors.folder.deletingLastPathComponent().appendingPathComponent("recovery-key.json")
        let vectors = try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).vectors
        #expect(vectors.count { $0.failure != nil } > 4)
        for vector in vectors {
            do throws(RecoveryKeyError) {
                let key = try RecoveryKey(typed: SecretBytes(copying: Array(vector.digits.utf8)))
                let bytes = key.bytes()
                #expect(bytes.withUnsafeBytes { hexadecimal(Array($0)) } == vector.key)
            } catch {
                let failure =
                    switch error {
                    case .wrongLength: "length"
                    case .notADigit: "digit"
                    case .typo(let group): "group \(group)"
                    }
                #expect(failure == vector.failure)
            }
        }
    }
}
