import DesktopKeychain
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
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

    @Test("A new password with a URL becomes an internet password, and any other a generic password")
    func newItems() throws {
        let website = try NewItem(place: "https://mail.example/", user: "bert").record()
        #expect(website.kind == .internetPassword)
        #expect(website.attributes[.server] == .text("mail.example"))
        #expect(website.attributes[.label] == .text("mail.example"))
        let service = try NewItem(place: "wiki", user: "").record()
        #expect(service.kind == .genericPassword)
        #expect(service.attributes[.accessGroup] == .text(AccessGroup.commandLine))
        #expect(throws: Refusal.self) { try NewItem(place: "  ", user: "bert").record() }
        #expect(throws: Refusal.self) { try NewItem(place: "nonsense://x/", user: "bert").record() }
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
