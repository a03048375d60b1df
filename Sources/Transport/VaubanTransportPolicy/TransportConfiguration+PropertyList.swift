public import Foundation

extension TransportConfiguration {
    /// The largest property list that is read, in bytes.
    public static let propertyListSizeMax = 1 << 20
    /// The deepest nesting that is read. Foundation's parser is recursive.
    static let depthMax = 32
    /// The most findings that are kept.
    static let findingsMax = 100

    /// Reads `NSAppTransportSecurity` and `DTSDKName` of an application's property list, in XML or binary form.
    ///
    /// Unknown keys, unknown values and wrong types of settings become findings, and the strict default applies.
    /// - Throws: `TransportConfigurationError` for data that is too large or not a property list, and if the rules, the exceptions or the
    ///   pins are not dictionaries.
    public init(propertyList data: Data) throws(TransportConfigurationError) {
        self.init()
        guard data.count <= Self.propertyListSizeMax else { throw .tooLarge(size: data.count) }
        try PropertyListShape.check(data, depthMax: Self.depthMax)
        let parsed: Any
        do {
            parsed = try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
        } catch {
            throw .notAPropertyList
        }
        guard let root = parsed as? [String: Any] else { throw .notAPropertyList }
        var reader = PropertyListReader()
        if let name = reader.string("DTSDKName", in: root, of: "the property list") {
            if let declared = TransportSDK(name: name) {
                sdk = declared
            } else {
                reader.report("DTSDKName \(reader.shown(name)) is no SDK of Apple's, so the rules of today apply.")
            }
        }
        if let keys = try reader.dictionary("NSAppTransportSecurity", in: root) { try read(keys, &reader) }
        findings = reader.findings
    }

    private mutating func read(
        _ keys: [String: Any], _ reader: inout PropertyListReader
    ) throws(TransportConfigurationError) {
        let place = "NSAppTransportSecurity"
        allowsArbitraryLoads = reader.bool("NSAllowsArbitraryLoads", in: keys, of: place)
        allowsArbitraryLoadsForMedia =
            reader.bool("NSAllowsArbitraryLoadsForMedia", in: keys, of: place)
            ?? reader.bool("NSAllowsArbitraryLoadsInMedia", in: keys, of: place)
        allowsArbitraryLoadsInWebContent = reader.bool("NSAllowsArbitraryLoadsInWebContent", in: keys, of: place)
        allowsLocalNetworking = reader.bool("NSAllowsLocalNetworking", in: keys, of: place)
        for (domain, settings) in try reader.entries("NSExceptionDomains", in: keys) {
            let exception = reader.exception(settings, of: domain)
            guard let earlier = exceptions[domain] else {
                exceptions[domain] = exception
                continue
            }
            // Choosing between two spellings would be a guess.
            var strict = DomainException.strict
            strict.minimumVersion = max(strict.minimumVersion, max(earlier.minimumVersion, exception.minimumVersion))
            exceptions[domain] = strict
            reader.report("\(domain) is in NSExceptionDomains more than once, so everything is required of it and of names below it.")
        }
        var spellings: [String: [String]] = [:]
        for (domain, settings) in try reader.entries("NSPinnedDomains", in: keys) {
            let pinned = reader.pins(settings, of: domain)
            // A final dot, or another spelling of an address, does not make another domain.
            let host = TransportHost(domain).withoutFinalDot
            let name = host.address.map { "\($0)" } ?? host.name
            spellings[name, default: []].append(domain)
            pins[domain] = pinned
        }
        for (_, domains) in spellings where domains.count > 1 {
            for domain in domains { pins[domain] = .withoutMatch }
            reader.report("\(domains.sorted()[0]) is in NSPinnedDomains more than once, so no certificate matches it.")
        }
        reader.reportUnknown(in: keys, of: place, known: Self.knownKeys)
    }

    private static let knownKeys: Set<String> = [
        "NSAllowsArbitraryLoads", "NSAllowsArbitraryLoadsForMedia", "NSAllowsArbitraryLoadsInMedia", "NSAllowsArbitraryLoadsInWebContent",
        "NSAllowsLocalNetworking", "NSExceptionDomains", "NSPinnedDomains",
    ]
}

/// Why a property list was not read. The fault is in the application that contains it.
public enum TransportConfigurationError: Error, Equatable, CustomStringConvertible {
    /// The file is too large; its size in bytes.
    case tooLarge(size: Int)
    /// The file is not a property list in XML or binary form, or its top level is not a dictionary.
    case notAPropertyList
    /// Its dictionaries and arrays nest too deep.
    case tooDeep
    /// The value of this key is not a dictionary.
    case wrongType(key: String)
    /// The file cannot be read.
    case unreadable(path: String)

    /// The reason, a sentence.
    public var description: String {
        switch self {
        case .tooLarge(let size): "The property list has \(size) bytes; at most \(TransportConfiguration.propertyListSizeMax) are read."
        case .notAPropertyList: "The file is not a property list in XML or binary form with a dictionary at its top."
        case .tooDeep: "The property list nests deeper than \(TransportConfiguration.depthMax) levels."
        case .wrongType(let key): "\(key) of the property list is not a dictionary."
        case .unreadable(let path): "The property list \(path) cannot be read."
        }
    }
}
