package import VaubanLinuxHost
import VaubanSecretBytes

/// Uniformly distributed random numbers below a bound, from the kernel's random source.
package struct UnbiasedNumbers: ~Copyable {
    private static let bytesAtOnce = 512
    private var bytes: SecretBytes
    private var position = 0

    package init() throws(SystemError) { bytes = try Entropy.secret(Self.bytesAtOnce) }

    /// Returns a number below `bound`, which is at most 65,536. Rejects the remainder of 65,536 divided by the bound, which would favor
    /// small numbers.
    package mutating func next(below bound: Int) throws(SystemError) -> Int {
        let fair = 65_536 - 65_536 % bound
        while true {
            let number = try draw()
            if number < fair { return number % bound }
        }
    }

    private mutating func draw() throws(SystemError) -> Int {
        if position == Self.bytesAtOnce {
            bytes = try Entropy.secret(Self.bytesAtOnce)
            position = 0
        }
        let start = position
        position += 2
        return bytes.withUnsafeBytes { Int($0[start]) << 8 | Int($0[start + 1]) }
    }
}
