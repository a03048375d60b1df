package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanSecretText

/// A writer of a JSON object in zeroing memory, for programs that read a secret as JSON.
package final class SecretJSON {
    private let text = SecretBuilder()
    /// For each open object, whether it has a member.
    private var openObjects = [false]

    package init() { text.append("{") }

    package func add(_ key: String, _ value: String) {
        begin(key)
        append(text: value)
    }

    package func add(_ key: String, _ value: Int) {
        begin(key)
        text.append(String(value))
    }

    /// Adds a secret as a string.
    ///
    /// - Throws: `badParameter` if it is not UTF-8, which JSON requires.
    package func add(_ key: String, secret: borrowing SecretBytes) throws(Refusal) {
        guard secret.withUnsafeBytes({ Self.isText($0) }) else {
            throw Refusal(.badParameter, "The secret is not text, which JSON requires; store it as UTF-8")
        }
        begin(key)
        secret.withUnsafeBytes { append(string: $0) }
    }

    package func add(_ key: String, _ value: Bool) {
        begin(key)
        text.append(value ? "true" : "false")
    }

    package func add(_ key: String, texts: [String]) {
        begin(key)
        text.append("[")
        for (index, value) in texts.enumerated() {
            if index > 0 { text.append(",") }
            append(text: value)
        }
        text.append("]")
    }

    /// Adds a list of objects, each of which the closure writes.
    package func add<Element>(_ key: String, list elements: [Element], _ members: (SecretJSON, Element) throws -> Void) rethrows {
        begin(key)
        text.append("[")
        for (index, element) in elements.enumerated() {
            text.append(index > 0 ? ",{" : "{")
            openObjects.append(false)
            try members(self, element)
            openObjects.removeLast()
            text.append("}")
        }
        text.append("]")
    }

    package func add(_ key: String, object members: (SecretJSON) throws -> Void) rethrows {
        begin(key)
        text.append("{")
        openObjects.append(false)
        try members(self)
        openObjects.removeLast()
        text.append("}")
    }

    /// Closes the object and returns the document, followed by `ending`.
    package func finished(ending: String = "") -> SecretBox {
        text.append("}\(ending)")
        return text.kept
    }

    private func begin(_ key: String) {
        if openObjects[openObjects.count - 1] { text.append(",") }
        openObjects[openObjects.count - 1] = true
        append(text: key)
        text.append(":")
    }

    private func append(text: String) {
        var text = text
        text.withUTF8 { append(string: UnsafeRawBufferPointer($0)) }
    }

    private func append(string bytes: UnsafeRawBufferPointer) {
        text.append("\"")
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text.append(UInt8(ascii: "\\"))
                text.append(byte)
            case 0..<0x20:
                text.append("\\u00")
                text.append(Self.digits[Int(byte >> 4)])
                text.append(Self.digits[Int(byte & 15)])
            default: text.append(byte)
            }
        }
        text.append("\"")
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Whether bytes are valid UTF-8, without creating a `String` of them.
    private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .emptyInput: return true
            case .error: return false
            case .scalarValue: continue
            }
        }
    }
}
