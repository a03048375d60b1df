package import Foundation
import VaubanAccessPolicy
package import VaubanKeychainModel

/// An item's attributes without its secret, for display and as JSON. Missing and empty attributes are left out. The keys must not change,
/// since scripts use them.
package struct ItemDescription: Encodable {
    package enum Value: Hashable {
        case text(String)
        /// A value that is not text.
        case bytes([UInt8])
        case number(Int64)
        case yes(Bool)
        case list([String])
        case date(Date)
        case use(Use)
    }

    package struct Part: Hashable {
        package let key: String
        package let title: String
        package let value: Value
    }

    package internal(set) var parts: [Part]

    /// The attributes in display order.
    private static let attributes: [(name: AttributeName, key: String, title: String)] = [
        (.service, "service", "Service"), (.server, "server", "Server"), (.account, "account", "Account"),
        (.protocolName, "protocol", "Protocol"), (.port, "port", "Port"), (.path, "path", "Path"),
        (.securityDomain, "securityDomain", "Domain"), (.authenticationType, "authenticationType", "Login type"),
        (.label, "label", "Label"), (.description, "description", "Description"), (.comment, "comment", "Comment"),
        (.generic, "generic", "Generic"), (.alias, "alias", "Alias"), (.creator, "creator", "Creator"), (.type, "type", "Type"),
        (.isInvisible, "isInvisible", "Invisible"), (.isNegative, "isNegative", "Negative"),
        (.synchronizable, "synchronizable", "Synchronizes"), (.syncViewHint, "syncViewHint", "Sync view"), (.tokenID, "tokenID", "Token"),
    ]
    /// Returns the attribute of a JSON key, for parsing.
    package static func name(of key: String) -> AttributeName? { attributes.first { $0.key == key }?.name }

    private static let yesOrNo: Set<AttributeName> = [.isInvisible, .isNegative, .synchronizable]

    /// Creates a description. `deleted` is the time of the deletion in microseconds since the reference date.
    package init(_ record: ItemRecord, deleted: Int64? = nil) {
        var parts = [
            Part(key: "class", title: "Class", value: .text(record.kind == .genericPassword ? "generic password" : "internet password"))
        ]
        for (name, key, title) in Self.attributes {
            guard let value = Self.value(record, name) else { continue }
            parts += name == .comment ? Self.comment(key, title: title, value: value) : [Part(key: key, title: title, value: value)]
        }
        parts += [
            Part(key: "owner", title: "Owner", value: .text(record.owner)),
            Part(key: "readable", title: "Readable", value: .text(record.protectionName)),
            Part(key: "asks", title: "Prompts", value: .yes(record.needsApproval)),
        ]
        if let control = record.accessControl {
            parts.append(Part(key: "accessControl", title: "Access control", value: .list(control.flagNames)))
        }
        for (name, key, title) in [(AttributeName.creationDate, "created", "Created"), (.modificationDate, "changed", "Changed")] {
            guard case .date(let microseconds) = record.attributes[name] else { continue }
            parts.append(Part(key: key, title: title, value: .date(Date(microseconds: microseconds))))
        }
        if let deleted {
            parts.append(Part(key: "deleted", title: "Deleted", value: .date(Date(microseconds: deleted))))
        }
        self.parts = parts
    }

    /// Returns the entries for the comment without its tags, and for the tags.
    private static func comment(_ key: String, title: String, value: Value) -> [Part] {
        guard case .text(let text) = value else { return [Part(key: key, title: title, value: value)] }
        let tagged = TaggedComment(text)
        return (tagged.text.isEmpty ? [] : [Part(key: key, title: title, value: .text(tagged.text))])
            + (tagged.tags.isEmpty ? [] : [Part(key: "tags", title: "Tags", value: .list(tagged.tags))])
    }

    private static func value(_ record: ItemRecord, _ name: AttributeName) -> Value? {
        if yesOrNo.contains(name) { return record.number(name) == 0 ? nil : .yes(true) }
        switch record.attributes[name] {
        case .number(let number): return number == 0 ? nil : .number(number)
        case .text(let text):
            if text.isEmpty { return nil }
            return .text(name == .protocolName ? ProtocolCode.name(of: text) : text)
        case .data(let bytes):
            if bytes.isEmpty { return nil }
            return String(validating: bytes, as: UTF8.self).map(Value.text) ?? .bytes(bytes)
        case .date, nil: return nil
        }
    }

    // MARK: Display

    private static let titleWidth = 17

    /// One line for each part, in two columns. Control characters in names that others chose do not reach the terminal. Further lines of a
    /// comment are indented, so that none looks like a part.
    package var lines: [String] {
        parts.flatMap { part in
            let shown = Self.shown(part.value)
            let texts = part.key == "comment" ? Self.linesOfText(shown) : [shown]
            return texts.enumerated().map { row, text in
                TextColumns.label(row == 0 ? "\(part.title):" : "", Self.titleWidth) + SafeText.visible(text)
            }
        }
    }

    /// Returns the text split at its line breaks and nothing else; a carriage return stays in its line.
    static func linesOfText(_ text: String) -> [String] {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String(String.UnicodeScalarView($0)) }
    }

    static func shown(_ value: Value) -> String {
        switch value {
        case .text(let text): text
        case .bytes(let bytes): "\(bytes.count) bytes: \(Data(bytes).base64EncodedString())"
        case .number(let number): String(number)
        case .yes(let yes): yes ? "yes" : "no"
        case .list(let names): names.joined(separator: ", ")
        case .date(let date): StatusText.time(date)
        case .use(let use): use.text
        }
    }

    // MARK: JSON

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Bytes that are not text, distinguishable from text that looks like Base64.
    private struct Bytes: Encodable { let base64: String }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        for part in parts {
            let key = Key(stringValue: part.key)
            switch part.value {
            case .text(let text): try object.encode(text, forKey: key)
            case .bytes(let bytes): try object.encode(Bytes(base64: Data(bytes).base64EncodedString()), forKey: key)
            case .number(let number): try object.encode(number, forKey: key)
            case .yes(let yes): try object.encode(yes, forKey: key)
            case .list(let names): try object.encode(names, forKey: key)
            case .date(let date): try object.encode(date, forKey: key)
            case .use(let use): try object.encode(use, forKey: key)
            }
        }
    }

    /// Returns one JSON document of one or more descriptions.
    package static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return SafeText.json(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

extension AccessControl {
    private static let names: [(AccessControlFlags, String)] = [
        (.userPresence, "userPresence"), (.biometryAny, "biometryAny"), (.biometryCurrentSet, "biometryCurrentSet"),
        (.devicePasscode, "devicePasscode"), (.companion, "companion"), (.or, "or"), (.and, "and"),
        (.privateKeyUsage, "privateKeyUsage"), (.applicationPassword, "applicationPassword"),
    ]

    /// The names of the flags as in Apple's `SecAccessControlCreateFlags`.
    var flagNames: [String] { Self.names.filter { flags.contains($0.0) }.map(\.1) }

    static func flag(named name: String) -> AccessControlFlags? { names.first { $0.1 == name }?.0 }
}
