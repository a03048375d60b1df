/// A Boolean behind a pointer, as Swift has it on Apple's systems alone: a byte that is not zero for true.
public struct DarwinBoolean: ExpressibleByBooleanLiteral, Equatable, CustomStringConvertible, Sendable {
    private var byte: UInt8

    public init(_ value: Bool) { byte = value ? 1 : 0 }
    public init(booleanLiteral value: Bool) { self.init(value) }

    public var boolValue: Bool { byte != 0 }
    public var description: String { boolValue.description }
}
