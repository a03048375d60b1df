/// The rules that an application declares in `NSAppTransportSecurity` of its property list (Specs/transport.md, section 2).
public struct TransportConfiguration: Sendable, Equatable {
    /// `NSAllowsArbitraryLoads`; nil if the property list lacks the key, and false if its value is not a Boolean.
    public var allowsArbitraryLoads: Bool?
    /// `NSAllowsArbitraryLoadsForMedia`, likewise.
    public var allowsArbitraryLoadsForMedia: Bool?
    /// `NSAllowsArbitraryLoadsInWebContent`, likewise.
    public var allowsArbitraryLoadsInWebContent: Bool?
    /// `NSAllowsLocalNetworking`, likewise.
    public var allowsLocalNetworking: Bool?
    /// `NSExceptionDomains` by lower-case host name, address, or block of addresses (`10.0.0.0/8`).
    public var exceptions: [String: DomainException] = [:]
    /// `NSPinnedDomains` by lower-case host name, address, or block of addresses.
    public var pins: [String: PinnedDomain] = [:]
    /// The SDK that the program was built against.
    public var sdk = TransportSDK.current
    /// The findings in the property list, one sentence each: what has no effect, what is wrong and therefore read strictly, and what is not
    /// in the form that Apple specifies.
    public var findings: [String] = []

    /// Creates the configuration of a program without a property list, which has no exceptions.
    public init() {}

    /// Whether one of the keys is present that make newer systems ignore `NSAllowsArbitraryLoads`.
    var hasNarrowerKey: Bool {
        allowsArbitraryLoadsForMedia != nil || allowsArbitraryLoadsInWebContent != nil || allowsLocalNetworking != nil
    }
}

/// The purpose of a request. Only the loads of media players and web views have separate global keys.
public enum TransportPurpose: Sendable { case general, media, webContent }
