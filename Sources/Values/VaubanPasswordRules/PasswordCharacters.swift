/// A set of printable ASCII characters, the only ones that rules can name individually.
package struct PasswordCharacters: Hashable, Sendable {
    /// One bit per character, at the position of its code.
    private var bits: UInt128 = 0

    package init() {}

    /// Creates a set of the characters that are printable; ignores the others.
    package init(_ characters: some Sequence<UInt8>) {
        for character in characters where Self.isPrintable(character) { bits |= 1 << UInt128(character) }
    }

    package static let upper = PasswordCharacters(0x41...0x5A)
    package static let lower = PasswordCharacters(0x61...0x7A)
    package static let digit = PasswordCharacters(0x30...0x39)
    package static let asciiPrintable = PasswordCharacters(0x20...0x7E)
    /// All other printable characters, including the space.
    package static let special = asciiPrintable.subtracting(upper).subtracting(lower).subtracting(digit)
    package static let space = PasswordCharacters([0x20])

    package static func isPrintable(_ character: some BinaryInteger) -> Bool { (0x20...0x7E).contains(character) }

    package var count: Int { bits.nonzeroBitCount }
    package var isEmpty: Bool { bits == 0 }
    package var characters: [UInt8] { (0x20...0x7E).filter { contains($0) } }

    package func contains(_ character: UInt8) -> Bool { bits >> UInt128(character) & 1 == 1 }
    package func isSubset(of other: PasswordCharacters) -> Bool { bits & ~other.bits == 0 }
    package func union(_ other: PasswordCharacters) -> PasswordCharacters { Self(bits: bits | other.bits) }
    package func subtracting(_ other: PasswordCharacters) -> PasswordCharacters { Self(bits: bits & ~other.bits) }

    private init(bits: UInt128) { self.bits = bits }
}
