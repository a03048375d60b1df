/// A version of TLS, by its number in a ClientHello (RFC 8446, 4.2.1).
public enum TransportVersion: UInt16, Sendable, Comparable, CaseIterable {
    case tls10 = 0x0301
    case tls11 = 0x0302
    case tls12 = 0x0303
    case tls13 = 0x0304

    /// Parses the value of `NSExceptionMinimumTLSVersion`. Versions of Datagram TLS are known values without an effect here, and return
    /// nil, as other text does.
    public init?(propertyListValue: String) {
        guard let version = Self.allCases.first(where: { $0.propertyListValue == propertyListValue }) else { return nil }
        self = version
    }

    public var propertyListValue: String {
        switch self {
        case .tls10: "TLSv1.0"
        case .tls11: "TLSv1.1"
        case .tls12: "TLSv1.2"
        case .tls13: "TLSv1.3"
        }
    }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
