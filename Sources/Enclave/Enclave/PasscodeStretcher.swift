internal import Crypto
internal import CryptoExtras
import Foundation
internal import Synchronization
package import SwiftASN1
package import VaubanDER
package import VaubanSecretBytes

/// The cost of one guess, stored beside what it protects: scrypt (RFC 7914).
/// `StretchParameters ::= SEQUENCE { salt OCTET STRING (SIZE (32)), log2Rounds INTEGER, blockSize INTEGER,
///   parallelism INTEGER }`
package struct StretchParameters: Hashable, Sendable, DERReadable, DERWritable {
    package let salt: [UInt8]
    package let log2Rounds: Int64
    package let blockSize: Int64
    package let parallelism: Int64

    package init(salt: [UInt8], log2Rounds: Int64, blockSize: Int64, parallelism: Int64) {
        self.salt = salt
        self.log2Rounds = log2Rounds
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    package init(from fields: inout DERFields) throws {
        salt = try fields.octets("salt", in: 32...32)
        log2Rounds = try fields.integer("rounds", in: 4...24)
        blockSize = try fields.integer("block size", in: 1...64)
        parallelism = try fields.integer("parallelism", in: 1...16)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.octets(salt)
            try fields.integer(log2Rounds)
            try fields.integer(blockSize)
            try fields.integer(parallelism)
        }
    }
}

/// Turns a passcode into 32 bytes at a known cost. One derivation runs at a time in the whole enclave, so that memory
/// is bounded whoever asks.
package final class PasscodeStretcher: Sendable {
    private let log2Rounds: Int64
    private let blockSize: Int64
    private let turn = Mutex<Void>(())

    /// The shipped cost: 128 MiB and about a fifth of a second on the machine this was measured on.
    package static var shipped: PasscodeStretcher { PasscodeStretcher(log2Rounds: 17, blockSize: 8) }

    /// Tests name a cheaper cost; what is stored says which was used.
    package init(log2Rounds: Int64, blockSize: Int64) {
        self.log2Rounds = log2Rounds
        self.blockSize = blockSize
    }

    package func parameters(salt: [UInt8]) -> StretchParameters {
        StretchParameters(salt: salt, log2Rounds: log2Rounds, blockSize: blockSize, parallelism: 1)
    }

    package struct OutOfMemory: Error {}

    package func stretch(_ passcode: borrowing SecretBytes, _ parameters: StretchParameters) throws(OutOfMemory) -> SecretBytes {
        let result: Result<SymmetricKey, OutOfMemory> = passcode.withUnsafeBytes { bytes in
            turn.withLock { _ in
                do {
                    return .success(
                        try KDF.Scrypt.deriveKey(
                            from: bytes, salt: parameters.salt, outputByteCount: EnclaveLimits.keyBytes, rounds: 1 << Int(parameters.log2Rounds),
                            blockSize: Int(parameters.blockSize), parallelism: Int(parameters.parallelism)))
                } catch {
                    return .failure(OutOfMemory())
                }
            }
        }
        return SecretBytes(try result.get())
    }
}
