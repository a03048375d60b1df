import BrowserHost
import Testing
import VaubanKeychainModel

/// The commands with which the user reverts what the browser did.
@Suite struct ItemOptionsTests {
    private func words(_ kind: ItemKind, _ attributes: [AttributeName: AttributeValue]) -> [String] {
        ItemOptions(ItemRecord(kind: kind, attributes: ItemAttributes(attributes))).words
    }

    @Test("The options for an internet password have its protocol, port and path, even if they are empty")
    func internetPasswordHasProtocolPortAndPath() {
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

    @Test("The options for a generic password have its service and account, and its owner if that is another program")
    func genericPasswordHasServiceAccountAndOwner() {
        #expect(
            words(.genericPassword, [.service: .text("example.com"), .accessGroup: .text("cli")]) == [
                "--service", "example.com", "--account", "",
            ])
        #expect(
            words(.genericPassword, [.service: .text("mail"), .account: .text("a/b"), .accessGroup: .text("program:/usr/bin/mail")]) == [
                "--service", "mail", "--account", "a/b", "--owner", "program:/usr/bin/mail",
            ])
    }

    @Test("The options escape invisible characters and shorten long names")
    func invisibleCharactersAreEscaped() {
        #expect(words(.genericPassword, [.service: .text("a\u{200D}b"), .account: .text("c\u{202E}d")])[1] == "a\\u{200d}b")
        let long = String(repeating: "x", count: 5000)
        #expect(words(.genericPassword, [.service: .text(long)])[1].count < 300)
    }
}
