import Foundation
import Testing
import VaubanAccessPolicy
import VaubanCommands
import VaubanJSON
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// The JSON of `vauban show --json` and `vauban add --json`, and of the other commands.
@Suite struct ItemDocumentTests {
    @Test("What show prints, add reads back")
    func descriptionReadsBack() throws {
        let control = try AccessControl(protection: .whenUnlocked, flags: .userPresence)
        let attributes = ItemAttributes([
            .server: .text("example.com"), .account: .text("anna"), .protocolName: .text("htps"), .port: .number(8443),
            .path: .text("/login"),
            .label: .text("Code"), .comment: .text("for work\nTags: work, bank"), .securityDomain: .data([0xFF, 0x00]),
        ])
        let record = ItemRecord(kind: .internetPassword, attributes: attributes, accessControl: control)
        let json = try ItemDescription.json(ItemDescription(record))
        let document = ItemDocument(secret(json.replacing("{\n", with: "{\n\"secret\": \"x\\u0041\",\n", maxReplacements: 1)))
        #expect(document.faults.isEmpty)
        let entry = try #require(document.entries.first)
        #expect(entry.record.attributes == attributes && entry.record.accessControl == control)
        let value = document.secret(of: entry)
        switch value {
        case .some(let value): #expect(text(value) == "xA")
        case .none: Issue.record("no secret")
        }
    }

    @Test(
        "What is wrong is named by line and key, and never with its content",
        arguments: [
            ("[{\"service\":\"a\",\"secret\":\"x\"},\n{\"servce\":\"b\",\"service\":\"b\",\"secret\":\"x\"}]", 2, "servce: unknown key"),
            ("{\"service\":\"a\"}", 1, "secret: is missing"), ("{\"secret\":\"x\"}", 1, "service: is missing"),
            ("{\"server\":\"a\",\"secret\":\"x\",\n\"port\":[1]}", 2, "port: wrong type"),
            ("{\"service\":\"a\",\"secret\":\"x\",\"readable\":\"never\"}", 1, "readable: unknown protection"),
            ("{\"service\":\"a\",\"secret\":{\"base64\":\"hunter2\"}}", 1, "secret: is not valid base64"),
            ("{\"service\":\"a\",\"secret\":\"x\",\"service\":\"b\"}", 1, "a key is repeated"), ("[]", 1, "the document contains no items"),
            ("service,secret\n", 1, "not valid JSON"), ("[[[[[[[[[1]]]]]]]]]", 1, "values are nested too deeply"),
            ("{\"service\":\"a\",\"secret\":\"\\x\"}", 1, "a string has an invalid escape or is not UTF-8"),
        ])
    func faultsAreNamed(json: String, line: Int, why: String) {
        let document = ItemDocument(secret(json))
        #expect(document.faults.first == JSONError(line: line, why: why))
    }

    @Test("Numbers of other programs are those of RFC 8259")
    func numbersAreStrict() {
        func isRead(_ number: String) -> Bool { Array("{\"a\": \(number)}".utf8).withUnsafeBytes { JSONObject(document: $0) != nil } }
        for number in ["0", "-0", "10", "-7", "0.5", "-0.50", "10.01", "1e5", "1E+05", "2.5e-3", "9223372036854775808"] {
            #expect(isRead(number), "\(number)")
        }
        for number in [
            "01", "-01", "00", "00.5", "1.", "-.5", ".5", "1.e3", "1e", "1e+", "1e1.5", "-", "--1", "1-2", "+1", "1.2.3", "0x1",
        ] { #expect(!isRead(number), "\(number)") }
    }

    @Test("An empty secret is a fault unless it is allowed")
    func emptySecretsNeedPermission() {
        let json = "{\"service\":\"a\",\"secret\":\"\"}"
        let strict = ItemDocument(secret(json), takesEmpty: false)
        #expect(strict.faults.count == 1)
        let permissive = ItemDocument(secret(json))
        #expect(permissive.faults.isEmpty)
    }

    @Test("The settings document has the keys of the manual")
    func settingsHaveKeys() throws {
        let settings = LockSettings(graceSeconds: 10, idleSeconds: 900, locksWithScreen: true)
        let object = try parsed(SettingsDocument(settings, keepsHistory: false))
        #expect(object["graceSeconds"] as? Int == 10 && object["idleSeconds"] as? Int == 900)
        #expect(object["locksWithScreen"] as? Bool == true && object["keepsHistory"] as? Bool == false)
    }

    @Test("The status document has the keys of the manual")
    func statusHasKeys() throws {
        let device = DeviceStatus(
            lock: .locked, cause: .started, since: 0, passcodeIsSet: true, attemptsLeft: 4, secondsToWait: 0, warnings: ["one"])
        let object = try parsed(StatusDocument(mode: .user(home: "/home/anna/keychain"), device, promptPlaces: ["here"]))
        #expect(
            Set(object.keys) == ["mode", "folder", "passcode", "state", "since", "locks", "fingers", "prompts", "warnings"])
        #expect(object["mode"] as? String == "user" && object["state"] as? String == "locked")
        #expect((object["passcode"] as? [String: Any])?["attemptsLeft"] as? Int == 4)
    }

    @Test("A line of the editor's form becomes a change, and a wrong line is named")
    func formReadsChanges() throws {
        let record = ItemRecord(
            kind: .genericPassword, attributes: ItemAttributes([.service: .text("github"), .account: .text("anna"), .label: .text("Code")]))
        let form = try ItemForm(record)
        #expect(try form.changes(in: form.text).isEmpty)
        let changes = try form.changes(in: form.text.replacing("Label: Code", with: "Label: Work").replacing("Tags:", with: "Tags: a, b"))
        #expect(changes[.label] == .text("Work") && changes[.comment] == .text("Tags: a, b"))
        let fault = try #require(throws: ParsingError.self) {
            _ = try form.changes(in: form.text.replacing("Label: ", with: "Label "))
        }
        #expect(fault.why == "line 5: a colon is missing")
    }

    @Test("Tags are the last line of the comment, and other text stays")
    func tagsAreTheLastLine() {
        let tagged = TaggedComment("for work\nTags: work, bank")
        #expect(tagged.text == "for work" && tagged.tags == ["work", "bank"] && tagged.comment == "for work\nTags: work, bank")
        #expect(TaggedComment("Tags: a,b").tags.isEmpty)
        #expect(TaggedComment.tags(in: " a, b ,a,") == ["a", "b"])
    }

    @Test("Hexadecimal and base64 read back", arguments: ["", "a", "ab", "abc", "\u{0}\u{1}ä"])
    func encodingsReadBack(value: String) throws {
        #expect(text(try HexSecret.bytes(of: HexSecret.digits(of: secret(value)))) == value)
        let encoded = SecretBase64.text(of: secret(value))
        #expect(text(encoded) == Data(value.utf8).base64EncodedString())
        let decoded = SecretBase64.bytes(of: encoded)
        switch decoded {
        case .some(let decoded): #expect(text(decoded) == value)
        case .none: Issue.record("not decoded")
        }
        #expect(throws: Refusal.self) { _ = try HexSecret.bytes(of: secret("abc")) }
    }

    private func parsed(_ document: some Encodable) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(try ItemDescription.json(document).utf8)) as? [String: Any])
    }
}
