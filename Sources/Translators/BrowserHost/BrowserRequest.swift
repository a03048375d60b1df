internal import VaubanJSON
package import VaubanSecretBytes
package import VaubanSecretText

/// A request of the extension (Specs/browser.md, "Messages").
package struct BrowserRequest {
    package enum Action {
        /// The items for a page.
        case find(WebOrigin)
        case password(WebOrigin, item: String)
        case code(WebOrigin, item: String)
        case generate(WebOrigin, PageRules)
        case save(WebOrigin, account: String, SecretBox)
        /// `mayLose`, from version 3 on, says that the user accepts the loss of the previous password if the keychain keeps no history.
        case replace(WebOrigin, item: String, SecretBox, mayLose: Bool)
        /// Asks whether this password of this account is already stored. From version 2 on.
        case compare(WebOrigin, account: String, SecretBox)
        case unlock
    }

    package let number: Int64
    package let action: Action

    /// Decodes a message strictly.
    package init(_ message: borrowing SecretBytes) throws(BrowserRequestError) {
        self = try message.withUnsafeBytes { bytes throws(BrowserRequestError) in try BrowserRequest(bytes) }
    }

    private init(_ bytes: UnsafeRawBufferPointer) throws(BrowserRequestError) {
        let object: JSONObject?
        let isAlone: Bool
        do throws(JSONError) {
            var scanner = JSONScanner(bytes)
            object = JSONObject(try scanner.next()?.value, in: bytes)
            isAlone = try scanner.next() == nil
        } catch {
            throw BrowserRequestError(nil, error.why)
        }
        guard isAlone else { throw BrowserRequestError(nil, "it has more than one value") }
        guard let object, let number = object.number("id"), number > 0 else { throw BrowserRequestError(nil, "it has no “id”") }
        self.number = number
        let fields = RequestFields(object, number)
        let version = try fields.version()
        switch object.text("request") {
        case "find": action = .find(try fields.origin())
        case "password": action = .password(try fields.origin(), item: try fields.item())
        case "code": action = .code(try fields.origin(), item: try fields.item())
        case "generate": action = .generate(try fields.origin(), try fields.rules())
        case "save":
            let account = try fields.text("account", bytesMax: BrowserLimits.accountBytesMax)
            action = .save(try fields.origin(), account: account, try fields.secret())
        case "replace":
            let mayLose = version < 3 ? false : try fields.flag("mayLose")
            action = .replace(try fields.origin(), item: try fields.item(), try fields.secret(), mayLose: mayLose)
        case "compare" where version >= 2:
            let account = try fields.text("account", bytesMax: BrowserLimits.accountBytesMax)
            action = .compare(try fields.origin(), account: account, try fields.secret())
        case "unlock": action = .unlock
        default: throw BrowserRequestError(number, "there is no such “request”")
        }
        try fields.checkNamed()
    }
}

/// Why a message is refused, without its content. The fault is the extension's; the stream continues.
package struct BrowserRequestError: Error {
    let number: Int64?
    let why: String

    init(_ number: Int64?, _ why: String) {
        self.number = number
        self.why = why
    }

    var sentence: String { "The extension's message is refused: \(why)" }
}

/// What a page requires of a new password: the `passwordrules` attribute and the limits of its field.
package struct PageRules {
    package let text: String
    package let lengthMin: Int64?
    package let lengthMax: Int64?
}

/// The fields of one request, each checked as it is read.
private final class RequestFields {
    private let object: JSONObject
    private let number: Int64
    private var known: Set<String> = ["id", "request", "version"]

    init(_ object: JSONObject, _ number: Int64) {
        self.object = object
        self.number = number
    }

    /// Returns the version of the messages; 1 if it is absent, as from the first extensions.
    func version() throws(BrowserRequestError) -> Int64 {
        guard object["version"] != nil else { return 1 }
        guard let version = object.number("version"), (1...BrowserLimits.messageVersionMax).contains(version) else {
            throw BrowserRequestError(number, "it is of another version than this Vauban; reload the extension in the browser")
        }
        return version
    }

    func text(_ key: String, bytesMax: Int) throws(BrowserRequestError) -> String {
        known.insert(key)
        guard let text = object.text(key) else { throw BrowserRequestError(number, "it has no “\(key)”") }
        guard text.utf8.count <= bytesMax, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw BrowserRequestError(number, "its “\(key)” is not one line of at most \(bytesMax) bytes")
        }
        return text
    }

    func origin() throws(BrowserRequestError) -> WebOrigin {
        guard let origin = WebOrigin(try text("origin", bytesMax: BrowserLimits.originBytesMax)) else {
            throw BrowserRequestError(number, "passwords are only for pages with https")
        }
        return origin
    }

    func item() throws(BrowserRequestError) -> String {
        let item = try text("item", bytesMax: 32)
        guard item.utf8.count == 32 else { throw BrowserRequestError(number, "its “item” is not an item identifier") }
        return item
    }

    func rules() throws(BrowserRequestError) -> PageRules {
        PageRules(
            text: try text("rules", bytesMax: BrowserLimits.rulesBytesMax), lengthMin: try length("minlength"),
            lengthMax: try length("maxlength"))
    }

    private func length(_ key: String) throws(BrowserRequestError) -> Int64? {
        known.insert(key)
        guard object[key] != nil else { return nil }
        guard let length = object.number(key), (1...1_000_000).contains(length) else {
            throw BrowserRequestError(number, "its “\(key)” is not a length")
        }
        return length
    }

    /// Returns a Boolean field; false if it is absent.
    func flag(_ key: String) throws(BrowserRequestError) -> Bool {
        known.insert(key)
        switch object[key] {
        case nil: return false
        case .yes(let isSo)?: return isSo
        default: throw BrowserRequestError(number, "its “\(key)” is not true or false")
        }
    }

    func secret() throws(BrowserRequestError) -> SecretBox {
        known.insert("password")
        guard case .text(let range)? = object["password"], let secret = JSONText.secret(object.bytes, range), !secret.isEmpty,
            secret.count <= BrowserLimits.secretBytesMax
        else { throw BrowserRequestError(number, "its “password” is empty or too long") }
        return SecretBox(secret)
    }

    /// Throws if there is a field that was not read.
    func checkNamed() throws(BrowserRequestError) {
        guard object.members.allSatisfy({ known.contains($0.key) }) else { throw BrowserRequestError(number, "it has an unknown field") }
    }
}
