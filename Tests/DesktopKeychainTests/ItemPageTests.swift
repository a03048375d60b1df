import DesktopKeychain
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

@Suite struct ItemPageTests {
    private static func page(
        _ attributes: [AttributeName: AttributeValue], kind: ItemKind = .genericPassword, protection: ProtectionClass = .whenUnlocked,
        control: AccessControl? = nil
    ) -> ItemPage {
        let record = ItemRecord(kind: kind, attributes: ItemAttributes(attributes), protection: protection, accessControl: control)
        return ItemPage(record, row: ItemRow(record, reference: Array(repeating: 1, count: 16)))
    }

    private let website = Self.page(
        [
            .server: .text("shop.example"), .account: .text("anna"), .protocolName: .text("htps"), .port: .number(8443),
            .path: .text("/basket"), .label: .text("shop.example"), .comment: .text("first\nsecond\nTags: home, shop"),
        ], kind: .internetPassword)

    @Test("A page shows the URL, the names, the notes and the tags")
    func fieldsOfWebsite() {
        #expect(
            website.fields.map { "\($0.title): \($0.text)" } == [
                "Website: https://shop.example:8443/basket", "User name: anna", "Notes: first\nsecond", "Tags: home, shop",
            ])
        #expect(website.fields.map(\.isCopyable) == [true, true, false, false])
    }

    @Test("A page states in one sentence when and how its item can be read")
    func protectionSentences() throws {
        #expect(website.protection == "Can be read while the keychain is unlocked.")
        let onDevice = Self.page([:], protection: .afterFirstUnlockThisDeviceOnly)
        #expect(onDevice.protection == "Can be read from the first unlock on, also while the keychain is locked, on this device only.")
        func sentence(_ flags: AccessControlFlags) throws -> String {
            Self.page([:], control: try AccessControl(protection: .whenPasscodeSetThisDeviceOnly, flags: flags)).protection
        }
        let begin = "Can be read while the keychain is unlocked, and is erased with the passcode, on this device only"
        #expect(try sentence(.userPresence) == "\(begin), each time with your fingerprint or passcode.")
        #expect(try sentence(.biometryAny) == "\(begin), each time with your fingerprint.")
        #expect(try sentence(.devicePasscode) == "\(begin), each time with your passcode.")
        #expect(
            try sentence([.devicePasscode, .applicationPassword])
                == "\(begin), each time with your passcode and the password of the program that stored it.")
        #expect(try sentence([]) == "\(begin).")
    }

    @Test("An edit writes only the attributes that differ, and updates a label that repeats the name")
    func changesOfDraft() throws {
        var draft = try ItemDraft(website)
        #expect(try draft.changes(to: website).isEmpty)
        draft.website = "http://flowers.example/"
        draft.tags = "shop, work, shop"
        #expect(
            try draft.changes(to: website)
                == ItemAttributes([
                    .server: .text("flowers.example"), .protocolName: .text("http"), .port: .number(0), .path: .text(""),
                    .label: .text("flowers.example"), .comment: .text("first\nsecond\nTags: shop, work"),
                ]))
        draft = try ItemDraft(website)
        draft.title = "Shop"
        draft.user = "bert"
        #expect(try draft.changes(to: website) == ItemAttributes([.label: .text("Shop"), .account: .text("bert")]))
        draft.website = "shop"
        #expect(throws: Refusal.self) { try draft.changes(to: website) }
    }

    @Test("Editing a website or user name also renames its one-time code, and a label that repeats the names")
    func editRenamesTheCode() throws {
        func code(_ label: String) -> ItemRecord {
            ItemRecord(
                kind: .genericPassword,
                attributes: ItemAttributes([.service: .text("otpauth:shop.example:8443"), .account: .text("anna"), .label: .text(label)]))
        }
        var draft = try ItemDraft(website)
        draft.notes = "other"
        func changes(_ label: String) throws -> ItemAttributes {
            draft.codeChanges(code(label), from: website.record, changes: try draft.changes(to: website))
        }
        #expect(try changes("shop.example").isEmpty)
        draft.user = "bert"
        #expect(try changes("shop.example") == ItemAttributes([.account: .text("bert")]))
        draft.website = "https://flowers.example/"
        let moved = ItemAttributes([.service: .text("otpauth:flowers.example"), .account: .text("bert")])
        #expect(try changes("shop.example") == moved.merging(ItemAttributes([.label: .text("flowers.example")])))
        #expect(try changes("shop.example:8443/anna") == moved.merging(ItemAttributes([.label: .text("flowers.example/bert")])))
        #expect(try changes("chosen by hand") == moved)
    }

    @Test("An attribute that was changed elsewhere since the page was read is not overwritten, and any other does not matter")
    func changedElsewhere() throws {
        var present = website.record
        present.attributes[.comment] = .text("other\nTags: home, shop")
        var draft = try ItemDraft(website)
        draft.title = "Shop"
        try website.throwIfChanged(try draft.changes(to: website).names, in: present)
        // Notes and tags are one attribute.
        draft.tags = "home"
        let names = try draft.changes(to: website).names
        let refusal = #expect(throws: Refusal.self) { try website.throwIfChanged(names, in: present) }
        #expect(refusal.map { Explanation($0).text.hasPrefix("The item was changed elsewhere meanwhile; nothing was saved.") } == true)
        try website.throwIfChanged(names, in: website.record)
    }

    @Test("An earlier value is found by what was listed, not by its number, which a new value changes")
    func numbersOfEarlierValues() throws {
        func version(_ replaced: Int64, changed: Int64) -> ItemVersion {
            var record = website.record
            record.attributes[.modificationDate] = .date(changed)
            return ItemVersion(replaced: replaced, record: record)
        }
        // The clock was set back, so two have the same date.
        let listed = [version(7, changed: 3), version(5, changed: 2), version(7, changed: 1)]
        let values = listed.map { EarlierValue($0) }
        #expect(try values.map { try $0.number(in: listed) } == [1, 2, 3])
        let later: [ItemVersion] = [version(9, changed: 4)] + listed.dropLast()
        #expect(try values[0].number(in: later) == 2)
        #expect(throws: Refusal.self) { try values[2].number(in: later) }
        #expect(throws: Refusal.self) { try values[0].number(in: []) }
    }

    @Test(
        "A new password with the address of a website becomes an internet password, with or without https",
        arguments: [
            ("https://Mail.Example/", "", "mail.example", "", ""), ("Mail.Example", "bert", "mail.example", "", "bert"),
            (" mail.example/login ", "", "mail.example", "/login", ""), ("http://mail.example/login", "", "mail.example", "/login", ""),
            ("https://anna@mail.example/", "", "mail.example", "", "anna"),
            ("https://anna@mail.example/", "bert", "mail.example", "", "bert"),
            ("192.0.2.1:8443", "", "192.0.2.1", "", ""),
        ])
    func newWebsites(place: String, user: String, server: String, path: String, account: String) throws {
        let item = NewItem(place: place, user: user)
        let record = try item.record()
        #expect(record.kind == .internetPassword && item.server == server)
        #expect(record.attributes[.server] == .text(server) && record.attributes[.path] == .text(path))
        #expect(record.attributes[.account] == .text(account) && record.attributes[.label] == .text(server))
        #expect(record.attributes[.protocolName] == .text(place.hasPrefix("http:") ? "http" : "htps"))
        #expect(record.attributes[.port] == .number(place.hasSuffix(":8443") ? 8443 : 0))
        #expect(record.attributes[.accessGroup] == .text(AccessGroup.commandLine))
    }

    @Test(
        "Any other new password is one of a service",
        arguments: ["wiki", "My bank", "localhost", "backup:2024", "Acme.", ".profile", "anna@example.com", "Mail (work.example)"])
    func newServices(place: String) throws {
        let item = NewItem(place: " \(place)", user: "")
        let record = try item.record()
        #expect(record.kind == .genericPassword && record.attributes[.service] == .text(place) && item.server == nil)
        #expect(record.attributes[.accessGroup] == .text(AccessGroup.commandLine))
    }

    @Test("A new password needs a place, and a URL of a known protocol without a password")
    func refusedPlaces() {
        for place in ["  ", "nonsense://x/", "https://anna:secret@example.com/"] {
            #expect(throws: Refusal.self) { try NewItem(place: place, user: "bert").record() }
        }
    }

    @Test("In an edit, the user name in a URL counts only if the entry for it is empty")
    func userInWebsite() throws {
        var draft = try ItemDraft(website)
        draft.website = "https://bert@shop.example:8443/basket"
        #expect(try draft.changes(to: website)[.account] == nil)
        draft.user = ""
        #expect(try draft.changes(to: website)[.account] == .text("bert"))
        draft.website = "https://shop.example:8443/basket"
        #expect(try draft.changes(to: website)[.account] == .text(""))
    }

    @Test("A secret is text only if it is UTF-8 without a zero byte")
    func secretsAsText() {
        func isText(_ bytes: [UInt8]) -> Bool { ItemSecret(SecretBytes(copying: bytes)).isText }
        #expect(isText([]))
        #expect(isText(Array("päss 🐈 word".utf8)))
        #expect(!isText([0x61, 0, 0x62]))
        #expect(!isText([0xFF, 0xFE]))
        #expect(!isText([0xE2, 0x82]))
    }

    @Test("A page computes the codes of RFC 6238, appendix B, and refuses a key with a counter")
    func codes() throws {
        func codes(_ address: String) throws -> ItemCodes { try ItemCodes(ItemSecret(SecretBytes(copying: Array(address.utf8)))) }
        let key = "secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
        let totp = try codes("otpauth://totp/a?\(key)&digits=8")
        let code = try #require(totp.code(at: 1_111_111_109))
        #expect(code.bytes.withUnsafeBytes { $0.elementsEqual("07081804".utf8) })
        #expect(totp.secondsLeft(at: 1_111_111_109) == 1)
        #expect(totp.period == 30)
        #expect(throws: Refusal.self) { try codes("otpauth://hotp/a?\(key)&counter=0") }
        #expect(throws: Refusal.self) { try codes("no address") }
    }

    @Test("Refusals are explained in sentences, and a locked keychain and a cancellation do not count as errors")
    func explanations() {
        #expect(Explanation(Refusal(.locked)).isLocked)
        #expect(Explanation(Refusal(.cancelled)).isCancelled)
        #expect(Explanation(Refusal(.badParameter, "enter a website")).text == "Enter a website.")
        #expect(Explanation(Refusal(.noPromptAgent)).text.contains("vauban approve"))
    }
}
