import VaubanSecretBytes
package import VaubanSecretText

/// One object of a document, with its members by key. It refers to the bytes of the document and must not outlive access to them.
package struct JSONObject {
    package let members: [JSONMember]
    package let bytes: UnsafeRawBufferPointer
    private let byKey: [String: JSONValue]

    /// Returns nil if the value is not an object.
    package init?(_ value: JSONValue?, in bytes: UnsafeRawBufferPointer) {
        guard case .object(let members)? = value else { return nil }
        self.members = members
        self.bytes = bytes
        byKey = Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
    }

    /// Returns the object that makes up the document, or nil if it is anything else.
    package init?(document bytes: UnsafeRawBufferPointer, _ limits: JSONScanner.Limits = .foreign) {
        var scanner = JSONScanner(bytes, limits)
        do throws(JSONError) {
            guard let first = try scanner.next(), try scanner.next() == nil else { return nil }
            self.init(first.value, in: bytes)
        } catch {
            return nil
        }
    }

    package var line: Int? { members.first?.line }

    package subscript(key: String) -> JSONValue? { byKey[key] }

    package func object(_ key: String) -> JSONObject? { JSONObject(byKey[key], in: bytes) }

    package func list(_ key: String) -> [JSONValue] { if case .list(let values)? = byKey[key] { values } else { [] } }

    package func objects(_ key: String) -> [JSONObject] { list(key).compactMap { JSONObject($0, in: bytes) } }

    /// Returns a string, or nil for every other type.
    package func text(_ key: String) -> String? { if case .text(let range)? = byKey[key] { JSONText.text(bytes, range) } else { nil } }

    package func number(_ key: String) -> Int64? { if case .number(let number)? = byKey[key] { number } else { nil } }

    package func isTrue(_ key: String) -> Bool { if case .yes(true)? = byKey[key] { true } else { false } }

    /// Returns the value for display: a string unchanged, a number by its digits, an array or an object as JSON; nil for null and empty
    /// values.
    package func shown(_ key: String) -> SecretBox? { byKey[key].flatMap { Self.shown($0, in: bytes) } }

    package static func shown(_ value: JSONValue, in bytes: UnsafeRawBufferPointer) -> SecretBox? {
        switch value {
        case .null: return nil
        case .text(let range):
            guard let secret = JSONText.secret(bytes, range), !secret.isEmpty else { return nil }
            return SecretBox(secret)
        case .list(let values) where values.isEmpty: return nil
        case .object(let members) where members.isEmpty: return nil
        case .number, .fraction, .yes, .list, .object:
            let text = SecretBuilder()
            write(value, bytes, to: text)
            return text.kept
        }
    }

    /// Writes the value as JSON; strings keep their original escapes.
    private static func write(_ value: JSONValue, _ bytes: UnsafeRawBufferPointer, to text: SecretBuilder) {
        switch value {
        case .null: text.append("null")
        case .yes(let yes): text.append(yes ? "true" : "false")
        case .number(let number): text.append(String(number))
        case .fraction(let range): text.append(UnsafeRawBufferPointer(rebasing: bytes[range]))
        case .text(let range):
            text.append("\"")
            text.append(UnsafeRawBufferPointer(rebasing: bytes[range]))
            text.append("\"")
        case .list(let values):
            text.append("[")
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(",") }
                write(value, bytes, to: text)
            }
            text.append("]")
        case .object(let members):
            text.append("{")
            for (index, member) in members.enumerated() {
                text.append("\(index > 0 ? "," : "")\"\(escaped(member.key))\":")
                write(member.value, bytes, to: text)
            }
            text.append("}")
        }
    }

    private static func escaped(_ key: String) -> String {
        key.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.value < 0x20: "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }.joined()
    }
}
