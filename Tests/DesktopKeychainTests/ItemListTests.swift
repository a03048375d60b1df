import DesktopKeychain
import Testing
import VaubanKeychainModel

@Suite struct ItemListTests {
    private static func row(_ attributes: [AttributeName: AttributeValue], kind: ItemKind = .genericPassword, number: UInt8) -> ItemRow {
        ItemRow(ItemRecord(kind: kind, attributes: ItemAttributes(attributes)), reference: Array(repeating: number, count: 16))
    }

    private let rows = [
        Self.row([.service: .text("github"), .account: .text("anna"), .label: .text("github/anna")], number: 1),
        Self.row([.server: .text("shop.example"), .account: .text("anna"), .label: .text("Shop")], kind: .internetPassword, number: 2),
        Self.row([.service: .text("otpauth:github"), .account: .text("anna"), .label: .text("github/anna")], number: 3),
        Self.row([.service: .text("ssh-key"), .account: .text("work")], number: 4),
        Self.row([.service: .text("fields:bank"), .comment: .text("Blue folder\nTags: home")], number: 5),
        Self.row([.service: .text("bank"), .description: .text("secure note")], number: 6),
        Self.row([.label: .text("signing")], kind: .key, number: 7),
        Self.row([.label: .text("Root")], kind: .certificate, number: 8),
    ]

    @Test("An item belongs to the kind that its class and its service name")
    func kindsOfItems() {
        #expect(rows.map(\.section) == [.passwords, .passwords, .codes, .keys, .secrets, .secrets, .keys, .certificates])
        let list = ItemList(rows)
        #expect(ItemSection.allCases.map { list.count(in: $0) } == [8, 2, 1, 2, 1, 2])
    }

    @Test("A label that only repeats the names is not shown twice")
    func titlesOfItems() {
        #expect(rows.map(\.title) == ["github", "Shop", "github", "ssh-key", "fields:bank", "bank", "signing", "Root"])
        #expect(rows.map(\.subtitle) == ["anna", "shop.example/anna", "anna", "work", "", "", "Key", "Certificate"])
    }

    @Test("A title from another program stays on one line without invisible characters")
    func hostileTitle() {
        let row = Self.row([.service: .text("bank\n\u{202e}moc\u{1b}[2J"), .account: .text("")], number: 9)
        #expect(row.title == "bank moc[2J")
    }

    @Test("The list is in the order of its titles, in any case")
    func orderOfItems() {
        #expect(ItemList(rows).rows.map(\.title) == ["bank", "fields:bank", "github", "github", "Root", "Shop", "signing", "ssh-key"])
    }

    @Test(
        "A search finds the items that contain every word, in any case and in any text",
        arguments: [
            ("", 8), ("  ", 8), ("GIT", 2), ("anna shop", 1), ("anna bank", 0), ("blue FOLDER", 1), ("home", 1), ("shop.example", 1),
            ("xyz", 0),
        ])
    func search(text: String, count: Int) {
        #expect(ItemList(rows).positions(in: .all, matching: text).count == count)
    }

    @Test("A search in a kind leaves the other kinds out")
    func searchInKind() {
        let list = ItemList(rows)
        #expect(list.positions(in: .codes, matching: "git").map { list.rows[$0].section } == [.codes])
        #expect(list.positions(in: .keys, matching: "git").isEmpty)
    }

    @Test("A password has the codes of its name and account")
    func codeOfPassword() {
        let list = ItemList(rows)
        #expect(list.code(of: rows[0]) == rows[2])
        #expect(list.code(of: rows[1]) == nil)
        #expect(list.code(of: rows[2]) == nil)
    }
}
