/// A version of TLS, by its number in a ClientHello (RFC 8446, 4.2.1).
public enum TransportVersion: UInt16, Sendable, Comparable, CaseIterable {
    /// TLS 1.0 (RFC 2246).
    case tls10 = 0x0301
    /// TLS 1.1 (RFC 4346).
    case tls11 = 0x0302
    /// TLS 1.2 (RFC 5246).
    case tls12 = 0x0303
    /// TLS 1.3 (RFC 8446).
    case tls13 = 0x0304

    /// Parses the value of `NSExceptionMinimumTLSVersion`. Versions of Datagram TLS are known values without an effect here, and return
    /// nil, as other text does.
    public init?(propertyListValue: String) {
        guard let version = Self.allCases.first(where: { $0.propertyListValue == propertyListValue }) else { return nil }
        self = version
    }

    /// The value in a property list, such as `TLSv1.2`.
    public var propertyListValue: String {
        switch self {
        case .tls10: "TLSv1.0"
        case .tls11: "TLSv1.1"
        case .tls12: "TLSv1.2"
        case .tls13: "TLSv1.3"
        }
    }

    /// Returns whether the left version is older.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
