/// The rules that an application declares in `NSAppTransportSecurity` of its property list (Specs/transport.md, section 2).
public struct TransportConfiguration: Sendable, Equatable {
    /// The global keys; nil where the property list does not have the key, and false where its value is no Boolean.
    public var allowsArbitraryLoads: Bool?
    public var allowsArbitraryLoadsForMedia: Bool?
    public var allowsArbitraryLoadsInWebContent: Bool?
    public var allowsLocalNetworking: Bool?
    /// Exceptions and pins by lower-case host name, address, or block of addresses (`10.0.0.0/8`).
    public var exceptions: [String: DomainException] = [:]
    public var pins: [String: PinnedDomain] = [:]
    /// What the program was built against.
    public var sdk = TransportSDK.current
    /// What the property list says that has no effect, or is wrong and therefore taken strictly, one sentence each.
    public var findings: [String] = []

    /// Creates the configuration of a program without a property list: nothing is excepted.
    public init() {}

    /// Whether one of the keys is present that make newer systems ignore `NSAllowsArbitraryLoads`.
    var hasNarrowerKey: Bool {
        allowsArbitraryLoadsForMedia != nil || allowsArbitraryLoadsInWebContent != nil || allowsLocalNetworking != nil
    }
}

/// What a request is for. Only the loads of media players and web views have global keys of their own.
public enum TransportPurpose: Sendable { case general, media, webContent }
