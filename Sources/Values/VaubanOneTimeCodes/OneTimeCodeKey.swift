internal import Crypto
package import VaubanSecretBytes

/// The shared secret of one-time codes with the parameters of its codes: HOTP (RFC 4226), TOTP (RFC 6238), and Steam's form of TOTP.
package struct OneTimeCodeKey: ~Copyable, Sendable {
    package enum Algorithm: String, CaseIterable, Sendable {
        case sha1 = "SHA1"
        case sha256 = "SHA256"
        case sha512 = "SHA512"
    }

    /// How a key advances to its next code.
    package enum Movement: Hashable, Sendable {
        /// The time, in steps of this many seconds.
        case time(periodSeconds: Int64)
        /// A counter, starting at this value.
        case counter(first: UInt64)
    }

    package enum Form: Hashable, Sendable {
        case digits(Int)
        /// Five characters of Steam's alphabet.
        case steam
    }

    package static let periodDefault: Int64 = 30
    package static let periodSecondsMax: Int64 = 86_400

    package let algorithm: Algorithm
    package let movement: Movement
    package let form: Form
    private let secret: SecretBytes

    package init(
        _ secret: consuming SecretBytes, algorithm: Algorithm = .sha1, movement: Movement = .time(periodSeconds: periodDefault),
        form: Form = .digits(6)
    ) {
        self.secret = secret
        self.algorithm = algorithm
        self.movement = movement
        self.form = form
    }

    /// Returns whether two keys give the same codes.
    package func isSame(as other: borrowing OneTimeCodeKey) -> Bool {
        secret.equals(other.secret) && (algorithm, form) == (other.algorithm, other.form) && movesLike(other)
    }

    /// Two counters may have been read at different times, so their values may differ.
    private func movesLike(_ other: borrowing OneTimeCodeKey) -> Bool {
        switch (movement, other.movement) {
        case (.counter, .counter): true
        default: movement == other.movement
        }
    }

    /// Returns the number of the step that contains a time: ⌊time / period⌋, also before 1970. Returns nil for a key with a counter.
    ///
    /// - Parameter time: Seconds since 1970.
    package func step(at time: Int64) -> UInt64? {
        guard case .time(let period) = movement else { return nil }
        let (quotient, remainder) = time.quotientAndRemainder(dividingBy: period)
        return UInt64(bitPattern: remainder < 0 ? quotient - 1 : quotient)
    }

    /// Returns the seconds until the next code replaces the code of this time, at least 1. Returns nil for a key with a counter.
    package func secondsLeft(at time: Int64) -> Int64? {
        guard case .time(let period) = movement else { return nil }
        let remainder = time % period
        return period - (remainder < 0 ? remainder + period : remainder)
    }

    /// Returns the code of a step or counter, in ASCII.
    package func code(at counter: UInt64) -> SecretBytes {
        let message = withUnsafeBytes(of: counter.bigEndian) { Array($0) }
        let key = secret.withUnsafeBytes { SymmetricKey(data: $0) }
        return switch algorithm {
        case .sha1: text(of: Self.truncated(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: key)))
        case .sha256: text(of: Self.truncated(HMAC<SHA256>.authenticationCode(for: message, using: key)))
        case .sha512: text(of: Self.truncated(HMAC<SHA512>.authenticationCode(for: message, using: key)))
        }
    }

    /// Truncates dynamically (RFC 4226, section 5.3): the low four bits of the last byte are the offset of the number's four bytes.
    private static func truncated(_ code: some Sequence<UInt8>) -> UInt32 {
        let bytes = Array(code)
        let offset = Int(bytes[bytes.count - 1] & 0x0F)
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
    }

    private func text(of number: UInt32) -> SecretBytes {
        switch form {
        case .digits(let count):
            SecretBytes(count: count) { bytes in
                var rest = number
                for position in stride(from: count - 1, through: 0, by: -1) {
                    bytes[position] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
            }
        case .steam:
            SecretBytes(count: 5) { bytes in
                var rest = number
                for position in 0..<5 {
                    bytes[position] = Self.steamAlphabet[Int(rest % 26)]
                    rest /= 26
                }
            }
        }
    }

    private static let steamAlphabet = Array("23456789BCDFGHJKMNPQRTVWXY".utf8)
}
