package import VaubanLinuxHost
import VaubanSecretBytes

/// Numbers from the kernel's random source, each below a bound, all of them equally likely.
package struct UnbiasedNumbers: ~Copyable {
    private static let bytesAtOnce = 512
    private var bytes: SecretBytes
    private var position = 0

    package init() throws(SystemError) { bytes = try Entropy.secret(Self.bytesAtOnce) }

    /// A number below `bound`, which is at most 65,536. What would favour small numbers, the rest of 65,536 divided by the bound, is
    /// drawn again.
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
