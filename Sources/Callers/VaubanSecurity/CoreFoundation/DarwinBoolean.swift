/// A C Boolean behind a pointer, which Swift has on Apple's systems alone: a byte, nonzero for true.
public struct DarwinBoolean: ExpressibleByBooleanLiteral, Equatable, CustomStringConvertible, Sendable {
    private var byte: UInt8

    /// Creates a value from a Boolean.
    public init(_ value: Bool) { byte = value ? 1 : 0 }
    /// Creates a value from a literal.
    public init(booleanLiteral value: Bool) { self.init(value) }

    /// The value as a Boolean.
    public var boolValue: Bool { byte != 0 }
    /// The value as text: `true` or `false`.
    public var description: String { boolValue.description }
}
