/// The SDK that a program declares to be built against, as Xcode records it in `DTSDKName`: `macosx10.11`, `iphoneos9.0`.
public struct TransportSDK: Sendable, Equatable {
    enum Platform: Equatable { case mac, phone, current }

    let platform: Platform
    let major: Int
    let minor: Int

    /// The current rules, which also apply to programs that declare nothing.
    public static let current = TransportSDK(platform: .current, major: 0, minor: 0)

    /// Parses a value of `DTSDKName`; returns nil if it names no Apple platform or has no version.
    public init?(name: String) {
        let prefixes: [(String, Platform)] = [
            ("macosx", .mac), ("iphoneos", .phone), ("iphonesimulator", .phone), ("appletvos", .phone), ("appletvsimulator", .phone),
        ]
        guard name.utf8.count <= 40, let (prefix, platform) = prefixes.first(where: { name.hasPrefix($0.0) }) else { return nil }
        let parts = name.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt16($0) }
        guard (1...3).contains(parts.count), numbers.count == parts.count else { return nil }
        self.init(platform: platform, major: Int(numbers[0]), minor: parts.count > 1 ? Int(numbers[1]) : 0)
    }

    private init(platform: Platform, major: Int, minor: Int) {
        self.platform = platform
        self.major = major
        self.minor = minor
    }

    /// Whether transport security applies: from OS X 10.11 and iOS 9.
    public var enforcesTransportSecurity: Bool { isAtLeast(mac: (10, 11), phone: (9, 0)) }

    /// Whether local hosts need no TLS and narrower keys replace `NSAllowsArbitraryLoads`: from macOS 10.12 and iOS 10.
    var knowsNarrowerKeys: Bool { isAtLeast(mac: (10, 12), phone: (10, 0)) }

    /// Whether exceptions may name addresses, and a host is no longer local by being an address: from macOS 14 and iOS 17.
    var knowsAddressExceptions: Bool { isAtLeast(mac: (14, 0), phone: (17, 0)) }

    private func isAtLeast(mac: (Int, Int), phone: (Int, Int)) -> Bool {
        switch platform {
        case .mac: (major, minor) >= mac
        case .phone: (major, minor) >= phone
        case .current: true
        }
    }
}
