import VaubanAccessPolicy
package import VaubanJSON
package import VaubanKeychainModel
package import VaubanSecretBytes

/// Items in JSON with the keys of `show --json` and the additional key `secret`. The document is in zeroing memory, and each secret is
/// copied from it into its own; attributes become text.
package struct ItemDocument: ~Copyable {
    package struct Entry {
        package let line: Int
        package let record: ItemRecord
        fileprivate let secret: Range<Int>
        fileprivate let isBase64: Bool
    }

    private let content: SecretBytes
    package let entries: [Entry]
    /// The errors with line and key. If there are any, use nothing of the document.
    package let faults: [JSONError]

    /// Parses a document. With `takesEmpty`, an empty secret is not an error: a backup may contain intentionally empty ones.
    package init(_ content: consuming SecretBytes, takesEmpty: Bool = true) {
        var (entries, faults) = content.withUnsafeBytes { Self.read($0) }
        if !takesEmpty {
            faults += entries.filter { $0.secret.isEmpty }.map {
                JSONError(line: $0.line, why: "secret: is empty; to store an empty secret, use --empty")
            }
            faults.sort { $0.line < $1.line }
        }
        self.content = content
        self.entries = entries
        self.faults = faults
    }

    package func secret(of entry: Entry) -> SecretBytes? { content.withUnsafeBytes { Self.secret(entry.secret, entry.isBase64, in: $0) } }

    private static func secret(_ range: Range<Int>, _ isBase64: Bool, in bytes: UnsafeRawBufferPointer) -> SecretBytes? {
        guard let text = JSONText.secret(bytes, range) else { return nil }
        if isBase64 { return SecretBase64.bytes(of: text) }
        return text
    }

    /// Parses an array of objects, or a sequence of objects.
    private static func read(_ bytes: UnsafeRawBufferPointer) -> (entries: [Entry], faults: [JSONError]) {
        var entries: [Entry] = []
        var faults: [JSONError] = []
        var scanner = JSONScanner(bytes)
        func take(_ line: Int, _ value: JSONValue) {
            do throws(JSONError) { entries.append(try entry(line, value, in: bytes)) } catch { faults.append(error) }
        }
        do throws(JSONError) {
            while let (line, value) = try scanner.next() {
                guard case .list(let values) = value else { take(line, value); continue }
                for value in values { take(Self.line(of: value) ?? line, value) }
            }
        } catch {
            faults.append(error)
        }
        if entries.isEmpty, faults.isEmpty { faults.append(JSONError(line: scanner.line, why: "the document contains no items")) }
        var names: Set<ItemRecord> = []
        for entry in entries where !names.insert(ItemRecord(kind: entry.record.kind, attributes: entry.record.wholeName)).inserted {
            faults.append(JSONError(line: entry.line, why: "an earlier item has the same name"))
        }
        return (entries, faults.sorted { $0.line < $1.line })
    }

    private static func line(of value: JSONValue) -> Int? {
        if case .object(let members) = value { members.first?.line } else { nil }
    }

    // MARK: One item

    /// Keys of `show --json` that the keychain sets itself; they are ignored here.
    private static let own: Set<String> = ["owner", "asks", "created", "changed", "deleted", "lastRead", "lastChanged"]

    private static func entry(_ line: Int, _ value: JSONValue, in bytes: UnsafeRawBufferPointer) throws(JSONError) -> Entry {
        guard case .object(let members) = value else { throw JSONError(line: line, why: "an item must be an object") }
        let byKey = Dictionary(members.map { ($0.key, $0) }) { first, _ in first }
        let kind = try kind(line, byKey, in: bytes)
        var record = ItemRecord(kind: kind, attributes: ItemAttributes())
        for member in members
        where !own.contains(member.key) && !["class", "secret", "readable", "accessControl", "tags"].contains(member.key) {
            guard let name = ItemDescription.name(of: member.key) else { throw fault(member, "unknown key") }
            guard let rule = AttributeRule.rule(for: name, of: kind) else {
                throw fault(member, "a \(kind == .genericPassword ? "generic" : "internet") password has no such attribute")
            }
            let given = try attribute(member, name, in: bytes)
            guard let fitting = given.converted(to: rule.form) else { throw fault(member, "wrong type") }
            if name == .port, case .number(let port) = fitting, !(0...65535).contains(port) {
                throw fault(member, "a port must be a number up to 65535")
            }
            record.attributes[name] = fitting
        }
        if let tags = try tags(byKey["tags"], in: bytes) {
            guard case .text(let text) = record.attributes[.comment] ?? .text("") else {
                throw JSONError(line: line, why: "tags: the comment is not text")
            }
            record.attributes[.comment] = .text(TaggedComment(text: text, tags: tags).comment)
        }
        let protection = try protection(byKey["readable"], in: bytes)
        record = ItemRecord(
            kind: kind, attributes: Self.named(record), protection: protection,
            accessControl: try control(byKey["accessControl"], protection, in: bytes))
        let (secret, isBase64) = try secret(line, byKey["secret"], in: bytes)
        return Entry(line: line, record: record, secret: secret, isBase64: isBase64)
    }

    /// Returns the attributes with a complete primary key, so that the item can be found again, and with a label.
    package static func named(_ record: ItemRecord) -> ItemAttributes {
        var attributes = record.attributes
        for name in [AttributeName.account] + (record.kind == .internetPassword ? [.path] : []) where attributes[name] == nil {
            attributes[name] = .text("")
        }
        if record.kind == .internetPassword, attributes[.port] == nil { attributes[.port] = .number(0) }
        if attributes[.label] == nil { attributes[.label] = record.kind == .internetPassword ? attributes[.server] : .text(record.name) }
        return attributes
    }

    private static func fault(_ member: JSONMember, _ why: String) -> JSONError {
        JSONError(line: member.line, why: "\(SafeText.line(member.key, max: 60)): \(why)")
    }

    private static func text(_ member: JSONMember, in bytes: UnsafeRawBufferPointer) throws(JSONError) -> String {
        guard case .text(let range) = member.value, let text = JSONText.text(bytes, range) else { throw fault(member, "must be text") }
        return text
    }

    private static func kind(_ line: Int, _ byKey: [String: JSONMember], in bytes: UnsafeRawBufferPointer) throws(JSONError) -> ItemKind {
        let kind: ItemKind
        if let member = byKey["class"] {
            switch try text(member, in: bytes) {
            case "generic password": kind = .genericPassword
            case "internet password": kind = .internetPassword
            default: throw fault(member, "must be generic password or internet password")
            }
        } else {
            kind = byKey["server"] != nil ? .internetPassword : .genericPassword
        }
        let key = kind == .genericPassword ? "service" : "server"
        guard byKey[key] != nil else { throw JSONError(line: line, why: "\(key): is missing") }
        return kind
    }

    private static func attribute(_ member: JSONMember, _ name: AttributeName, in bytes: UnsafeRawBufferPointer) throws(JSONError)
        -> AttributeValue
    {
        switch member.value {
        case .text(let range):
            guard let text = JSONText.text(bytes, range) else { throw fault(member, "must be text") }
            return .text(name == .protocolName ? ProtocolCode.code(for: text) : text)
        case .number(let number): return .number(number)
        case .yes(let yes): return .number(yes ? 1 : 0)
        case .object(let members):
            guard let range = base64(members), let content = secret(range, true, in: bytes) else {
                throw fault(member, "bytes must be {\"base64\": …}")
            }
            return .data(content.withUnsafeBytes { Array($0) })
        case .null, .list, .fraction: throw fault(member, "wrong type")
        }
    }

    private static func tags(_ member: JSONMember?, in bytes: UnsafeRawBufferPointer) throws(JSONError) -> [String]? {
        guard let member else { return nil }
        guard case .list(let values) = member.value else { throw fault(member, "must be a list of text") }
        var tags: [String] = []
        for value in values {
            guard case .text(let range) = value, let tag = JSONText.text(bytes, range) else { throw fault(member, "a tag must be text") }
            if let why = TaggedComment.fault(in: tag) { throw fault(member, why) }
            if !tags.contains(tag) { tags.append(tag) }
        }
        return tags
    }

    private static func base64(_ members: [JSONMember]) -> Range<Int>? {
        guard members.count == 1, members[0].key == "base64", case .text(let range) = members[0].value else { return nil }
        return range
    }

    private static func protection(_ member: JSONMember?, in bytes: UnsafeRawBufferPointer) throws(JSONError) -> ProtectionClass {
        guard let member else { return .whenUnlocked }
        let name = try text(member, in: bytes)
        guard let found = ProtectionClass.allCases.first(where: { $0.shownName == name }) else { throw fault(member, "unknown protection") }
        return found
    }

    private static func control(_ member: JSONMember?, _ protection: ProtectionClass, in bytes: UnsafeRawBufferPointer) throws(JSONError)
        -> AccessControl?
    {
        guard let member else { return nil }
        guard case .list(let values) = member.value else { throw fault(member, "must be a list of flags") }
        var flags: AccessControlFlags = []
        for value in values {
            guard case .text(let range) = value, let name = JSONText.text(bytes, range), let flag = AccessControl.flag(named: name) else {
                throw fault(member, "unknown flag")
            }
            flags.insert(flag)
        }
        do throws(AccessControlError) { return try AccessControl(protection: protection, flags: flags) } catch {
            throw fault(member, error.rawValue)
        }
    }

    private static func secret(_ line: Int, _ member: JSONMember?, in bytes: UnsafeRawBufferPointer) throws(JSONError) -> (
        Range<Int>, isBase64: Bool
    ) {
        guard let member else { throw JSONError(line: line, why: "secret: is missing") }
        let found: (Range<Int>, isBase64: Bool)
        switch member.value {
        case .text(let range): found = (range, false)
        case .object(let members):
            guard let range = base64(members) else { throw fault(member, "bytes must be {\"base64\": …}") }
            found = (range, true)
        case .number, .fraction, .yes, .null, .list: throw fault(member, "must be text")
        }
        guard let content = secret(found.0, found.isBase64, in: bytes) else { throw fault(member, "is not valid base64") }
        guard content.count <= SecretSource.bytesMax else { throw fault(member, "is larger than 1 MiB") }
        return found
    }
}
