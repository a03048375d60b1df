import BrowserHost
import Testing
import VaubanKeychainModel

/// The commands with which the user takes back what the browser did.
@Suite struct ItemOptionsTests {
    private func words(_ kind: ItemKind, _ attributes: [AttributeName: AttributeValue]) -> [String] {
        ItemOptions(ItemRecord(kind: kind, attributes: ItemAttributes(attributes))).words
    }

    @Test("An item of a server is named with its protocol, port and path, also where it has none")
    func internetPasswords() {
        let anna: [AttributeName: AttributeValue] = [
            .server: .text("example.com"), .account: .text("anna"), .protocolName: .text("htps"), .accessGroup: .text("cli"),
        ]
        #expect(
            words(.internetPassword, anna) == [
                "--server", "example.com", "--account", "anna", "--protocol", "https", "--port", "0", "--path", "",
            ])
        let other: [AttributeName: AttributeValue] = [.protocolName: .text("http"), .port: .number(8443), .path: .text("/a b")]
        #expect(
            words(.internetPassword, anna.merging(other) { $1 }) == [
                "--server", "example.com", "--account", "anna", "--protocol", "http", "--port", "8443", "--path", "/a b",
            ])
    }

    @Test("A named item has its service and account, and an item of another program its owner")
    func genericPasswords() {
        #expect(
            words(.genericPassword, [.service: .text("example.com"), .accessGroup: .text("cli")]) == [
                "--service", "example.com", "--account", "",
            ])
        #expect(
            words(.genericPassword, [.service: .text("mail"), .account: .text("a/b"), .accessGroup: .text("program:/usr/bin/mail")]) == [
                "--service", "mail", "--account", "a/b", "--owner", "program:/usr/bin/mail",
            ])
    }

    @Test("What cannot be seen is written out, so that no other item is meant")
    func invisibleCharacters() {
        #expect(words(.genericPassword, [.service: .text("a\u{200D}b"), .account: .text("c\u{202E}d")])[1] == "a\\u{200d}b")
        let long = String(repeating: "x", count: 5000)
        #expect(words(.genericPassword, [.service: .text(long)])[1].count < 300)
    }
}
