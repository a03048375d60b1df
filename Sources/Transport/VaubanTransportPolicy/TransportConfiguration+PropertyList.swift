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
    /// Unknown keys, unknown values and wrong types become findings, and the strict default stands.
    /// - Throws: `TransportConfigurationError` for what is too large or no property list.
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
                reader.tell("DTSDKName \(reader.shown(name)) is no SDK of Apple's, so the rules of today apply.")
            }
        }
        if let keys = reader.dictionary("NSAppTransportSecurity", in: root, of: "the property list") { read(keys, &reader) }
        findings = reader.findings
    }

    private mutating func read(_ keys: [String: Any], _ reader: inout PropertyListReader) {
        let place = "NSAppTransportSecurity"
        allowsArbitraryLoads = reader.bool("NSAllowsArbitraryLoads", in: keys, of: place)
        allowsArbitraryLoadsForMedia =
            reader.bool("NSAllowsArbitraryLoadsForMedia", in: keys, of: place)
            ?? reader.bool("NSAllowsArbitraryLoadsInMedia", in: keys, of: place)
        allowsArbitraryLoadsInWebContent = reader.bool("NSAllowsArbitraryLoadsInWebContent", in: keys, of: place)
        allowsLocalNetworking = reader.bool("NSAllowsLocalNetworking", in: keys, of: place)
        for (domain, value) in reader.entries("NSExceptionDomains", in: keys, of: place) {
            exceptions[domain] = reader.exception(value, of: domain)
        }
        for (domain, value) in reader.entries("NSPinnedDomains", in: keys, of: place) { pins[domain] = reader.pins(value, of: domain) }
        reader.tellUnknown(in: keys, of: place, known: Self.knownKeys)
    }

    private static let knownKeys: Set<String> = [
        "NSAllowsArbitraryLoads", "NSAllowsArbitraryLoadsForMedia", "NSAllowsArbitraryLoadsInMedia", "NSAllowsArbitraryLoadsInWebContent",
        "NSAllowsLocalNetworking", "NSExceptionDomains", "NSPinnedDomains",
    ]
}

/// Why a property list was not read. The application that has it is to blame.
public enum TransportConfigurationError: Error, Equatable, CustomStringConvertible {
    case tooLarge(size: Int)
    case notAPropertyList
    case tooDeep
    case unreadable(path: String)

    public var description: String {
        switch self {
        case .tooLarge(let size): "The property list has \(size) bytes; at most \(TransportConfiguration.propertyListSizeMax) are read."
        case .notAPropertyList: "The file is not a property list in XML or binary form with a dictionary at its top."
        case .tooDeep: "The property list nests deeper than \(TransportConfiguration.depthMax) levels."
        case .unreadable(let path): "The property list \(path) cannot be read."
        }
    }
}
