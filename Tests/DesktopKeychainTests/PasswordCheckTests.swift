import DesktopKeychain
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanSecretBytes

@Suite struct PasswordCheckTests {
    private static let day: Int64 = 24 * 3600 * 1_000_000
    private static let now: Int64 = 800_000_000_000_000

    private struct Item {
        let record: ItemRecord
        let reference: [UInt8]
        let secret: String

        init(_ service: String, _ secret: String, daysAgo: Int64 = 1, control: AccessControl? = nil) {
            let attributes: [AttributeName: AttributeValue] = [
                .service: .text(service), .account: .text("anna"), .modificationDate: .date(now - daysAgo * day),
            ]
            record = ItemRecord(
                kind: .genericPassword, attributes: ItemAttributes(attributes), protection: .whenUnlocked, accessControl: control)
            reference = Array((service + String(repeating: "-", count: 16)).utf8.prefix(16))
            self.secret = secret
        }
    }

    private func check(_ items: [Item], room: Int? = nil, reads: (Item) -> Bool = { _ in true }) -> PasswordCheck {
        let gathering = PasswordCheck.Gathering(countMax: room ?? items.count, now: Self.now)
        for item in items where reads(item) {
            gathering.add(item.record, reference: item.reference, secret: SecretBytes(copying: Array(item.secret.utf8)))
        }
        return gathering.check(of: ItemList(items.map { ($0.record, $0.reference) }))
    }

    @Test("Items that share a password are found and listed together")
    func reused() {
        let found = check([
            Item("zoo", "a long password 1"), Item("bank", "a long password 2"), Item("wiki", "a long password 1"),
            Item("mail", "a long password 3"), Item("shop", "a long password 2"), Item("chat", "a long password 1"),
        ])
        #expect(found.reused.map(\.title) == ["bank", "shop", "chat", "wiki", "zoo"])
        #expect(found.reusedPasswords == 2)
        #expect(found.short.isEmpty)
        #expect(found.old.isEmpty)
        #expect(found.checked == 6)
        #expect(found.leftOut == 0)
    }

    @Test("A password of fewer than twelve characters is short, however many bytes it has")
    func short() {
        let found = check([
            Item("ascii 11", "12345678901"), Item("ascii 12", "123456789012"), Item("umlauts 11", "äöüäöüäöüäö"),
            Item("umlauts 12", "äöüäöüäöüäöü"), Item("empty", ""), Item("bytes", "a\0b"),
        ])
        #expect(found.short.map(\.title) == ["ascii 11", "umlauts 11"])
    }

    @Test("A password that was not changed for more than 365 days is old")
    func old() {
        let found = check([
            Item("new", "a long password 1", daysAgo: 364), Item("same day", "a long password 2", daysAgo: 365),
            Item("old", "a long password 3", daysAgo: 366),
        ])
        #expect(found.old.map(\.title) == ["old"])
    }

    @Test("Items other than passwords are not checked, and passwords that were not read are counted")
    func leftOut() {
        let items = [
            Item("otpauth:bank", "short"), Item("fields:bank", "short"), Item("bank", "a long password 1"),
            Item("safe", "a long password 1"),
            Item("vault", "a long password 1"),
        ]
        let found = check(items) { $0.record.attributes[.service] != .text("safe") && $0.record.attributes[.service] != .text("vault") }
        #expect(found.checked == 1)
        #expect(found.leftOut == 2)
        #expect(found.reused.isEmpty)
        #expect(found.short.isEmpty)
        // Those that were added after the list was read.
        #expect(check(items, room: 2).checked == 2)
    }

    @Test("A check without passwords finds nothing")
    func empty() {
        #expect(check([]).checked == 0)
        #expect(check([]).reused.isEmpty)
    }
}
