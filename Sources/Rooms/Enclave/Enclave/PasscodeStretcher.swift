internal import Crypto
internal import CryptoExtras
import FoundationEssentials
package import VaubanDER
package import VaubanRefusal
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

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(salt)
            try fields.integer(log2Rounds)
            try fields.integer(blockSize)
            try fields.integer(parallelism)
        }
    }
}

/// The target cost of one guess. `log2Rounds` and the smallest block size are the minimum. To reach `time`, the block size grows until a
/// guess takes that long on this machine; beyond the largest block size, the number of passes over the same memory grows (scrypt's
/// parallelism, computed sequentially).
package struct StretchCost: Sendable {
    package let log2Rounds: Int64
    package let blockSizeMin: Int64
    /// The target time in nanoseconds; nil keeps the minimum.
    package let time: UInt64?

    /// Corresponds to 256 MiB. More would not always be available, and the library refuses it for a single pass.
    private var blockSizeMax: Int64 = 16
    /// The block size times the passes.
    private static let workMax: Int64 = 32

    /// The shipped cost: at least 128 MiB and a quarter of a second.
    package static let shipped = StretchCost(log2Rounds: 17, blockSizeMin: 8, time: 250_000_000)

    package init(log2Rounds: Int64, blockSizeMin: Int64, time: UInt64? = nil) {
        self.log2Rounds = log2Rounds
        self.blockSizeMin = blockSizeMin
        self.time = time
    }

    /// Returns the cost for a machine or container with this much memory. With less than 512 MiB, cost beyond the minimum increases the
    /// passes and not the memory.
    package func within(memory: UInt64?) -> StretchCost {
        guard let memory, memory < 512 << 20 else { return self }
        var cost = self
        cost.blockSizeMax = blockSizeMin
        return cost
    }

    /// Returns the block size times passes for which a guess takes `time`, if one pass with the smallest block size takes `measured`
    /// nanoseconds: scrypt's cost is proportional to both.
    package func work(measured: UInt64) -> Int64 {
        guard let time, measured > 0, measured < time else { return blockSizeMin }
        let wanted = (UInt64(blockSizeMin) * time + measured - 1) / measured
        return min(Int64(clamping: wanted), max(Self.workMax, blockSizeMin))
    }

    /// Splits that work into a block size and passes, with no less memory than the old parameters.
    package func shape(_ work: Int64, atLeast old: StretchParameters?) -> (blockSize: Int64, passes: Int64) {
        let work = max(work, (old?.blockSize ?? 0) * (old?.parallelism ?? 0))
        let passes = max((work + blockSizeMax - 1) / blockSizeMax, old?.parallelism ?? 1)
        return (max((work + passes - 1) / passes, old?.blockSize ?? 0, blockSizeMin), passes)
    }
}

/// Derives 32 bytes from a passcode at a known cost. `DerivationQueue` runs one derivation at a time, which bounds the memory.
package struct PasscodeStretcher: Sendable {
    private let cost: StretchCost

    package init(_ cost: StretchCost) { self.cost = cost }

    /// Returns parameters for a new passcode: measured on this machine, and never weaker than the old ones.
    package func parameters(salt: [UInt8], atLeast old: StretchParameters? = nil, now: () -> UInt64) throws(Refusal)
        -> StretchParameters
    {
        let floor = StretchParameters(salt: salt, log2Rounds: cost.log2Rounds, blockSize: cost.blockSizeMin, parallelism: 1)
        var work = cost.blockSizeMin
        if cost.time != nil {
            let start = now()
            _ = try Self.derive(Array("sample".utf8), floor).get()
            work = cost.work(measured: now() - start)
        }
        let (blockSize, passes) = cost.shape(work, atLeast: old)
        return StretchParameters(
            salt: salt, log2Rounds: max(cost.log2Rounds, old?.log2Rounds ?? 0), blockSize: blockSize, parallelism: passes)
    }

    package func stretch(_ passcode: borrowing SecretBytes, _ parameters: StretchParameters) throws(Refusal) -> SecretBytes {
        SecretBytes(try passcode.withUnsafeBytes { bytes in Self.derive(bytes, parameters) }.get())
    }

    private static func derive(_ passcode: some DataProtocol, _ parameters: StretchParameters) -> Result<SymmetricKey, Refusal> {
        do {
            return .success(
                try KDF.Scrypt.deriveKey(
                    from: passcode, salt: parameters.salt, outputByteCount: EnclaveLimits.keyBytes, rounds: 1 << Int(parameters.log2Rounds),
                    blockSize: Int(parameters.blockSize), parallelism: Int(parameters.parallelism)))
        } catch {
            // The parameters are within the limits, so only memory can be missing.
            return .failure(Refusal(.unavailable, "There is too little memory to check a passcode (at least 128 MiB are needed)"))
        }
    }
}
