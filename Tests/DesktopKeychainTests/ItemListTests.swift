import DesktopKeychain
import Testing
import VaubanKeychainModel

@Suite struct ItemListTests {
    private typealias Item = (record: ItemRecord, reference: [UInt8])

    private static func item(_ attributes: [AttributeName: AttributeValue], kind: ItemKind = .genericPassword, number: UInt8) -> Item {
        (ItemRecord(kind: kind, attributes: ItemAttributes(attributes)), Array(repeating: number, count: 16))
    }

    private let items = [
        Self.item([.service: .text("github"), .account: .text("anna"), .label: .text("github/anna")], number: 1),
        Self.item([.server: .text("shop.example"), .account: .text("anna"), .label: .text("Shop")], kind: .internetPassword, number: 2),
        Self.item([.service: .text("otpauth:github"), .account: .text("anna"), .label: .text("github/anna")], number: 3),
        Self.item([.service: .text("ssh-key"), .account: .text("work")], number: 4),
        Self.item([.service: .text("fields:bank"), .comment: .text("Blue folder\nTags: home")], number: 5),
        Self.item([.service: .text("bank"), .description: .text("secure note")], number: 6),
        Self.item([.label: .text("signing")], kind: .key, number: 7),
        Self.item([.label: .text("Root")], kind: .certificate, number: 8),
    ]

    private var rows: [ItemRow] { items.map { ItemRow($0.record, reference: $0.reference) } }

    private func rows(of list: ItemList) -> [ItemRow] { (0..<list.count).map { list[$0] } }

    private func page(_ item: Item) -> ItemPage { ItemPage(item.record, row: ItemRow(item.record, reference: item.reference)) }

    @Test("The class and service of an item determine its section")
    func sectionsOfItems() {
        #expect(rows.map(\.section) == [.passwords, .passwords, .codes, .keys, .secrets, .secrets, .keys, .certificates])
        let list = ItemList(items)
        #expect(ItemSection.allCases.map { list.count(in: $0) } == [8, 2, 1, 2, 1, 2])
    }

    @Test("A label that only repeats the names is not shown twice")
    func titlesOfItems() {
        #expect(rows.map(\.title) == ["github", "Shop", "github", "ssh-key", "fields:bank", "bank", "signing", "Root"])
        #expect(rows.map(\.subtitle) == ["anna", "shop.example/anna", "anna", "work", "", "", "Key", "Certificate"])
    }

    @Test("A title from another program stays on one line without invisible characters")
    func hostileTitle() {
        let (record, reference) = Self.item([.service: .text("bank\n\u{202e}moc\u{1b}[2J"), .account: .text("")], number: 9)
        let row = ItemRow(record, reference: reference)
        #expect(row.title == "bank moc[2J")
    }

    @Test("The list is sorted by title, ignoring case")
    func orderOfItems() {
        #expect(
            rows(of: ItemList(items)).map(\.title) == ["bank", "fields:bank", "github", "github", "Root", "Shop", "signing", "ssh-key"])
    }

    @Test(
        "A search finds the items whose attributes contain every word, ignoring case",
        arguments: [
            ("", 8), ("  ", 8), ("GIT", 2), ("anna shop", 1), ("anna bank", 0), ("blue FOLDER", 1), ("home", 1), ("shop.example", 1),
            ("xyz", 0),
        ])
    func search(text: String, count: Int) {
        #expect(ItemList(items).positions(in: .all, matching: text).count == count)
    }

    @Test("Search and sorting ignore accents and how a letter is composed", arguments: ["müller", "MULLER", "mu\u{308}ller"])
    func accents(text: String) {
        let names = ["zebra", "Müller", "Mu\u{308}ller two", "Ärzte"]
        let list = ItemList(names.enumerated().map { Self.item([.service: .text($1), .account: .text("")], number: UInt8($0)) })
        #expect(list.positions(in: .all, matching: text).count == 2)
        #expect(rows(of: list).map(\.title) == ["Ärzte", "Müller", "Mu\u{308}ller two", "zebra"])
    }

    @Test("A search in one section finds no items of other sections")
    func searchInSection() {
        let list = ItemList(items)
        #expect(list.positions(in: .codes, matching: "git").map { list[Int($0)].section } == [.codes])
        #expect(list.positions(in: .keys, matching: "git").isEmpty)
    }

    @Test("A search in a part of the list finds only the matches in that part")
    func searchInParts() {
        let list = ItemList(items)
        let words = ItemList.Words("git")
        let parts = [0..<3, 3..<list.count].map { list.positions(of: .section(.all), matching: words, among: $0) }
        #expect(parts.flatMap(\.self) == list.positions(in: .all, matching: "git"))
        #expect(parts.map(\.count) == [1, 1])
    }

    @Test("A list counts the tags of its items and filters by them, even after items have changed")
    func tags() {
        var others = items
        others[0].record.attributes[.comment] = .text("Tags: work, home")
        others[1].record.attributes[.comment] = .text("Tags: workshop")
        let list = ItemList(others)
        #expect(list.tags(max: 9).map { "\($0.name) \($0.count)" } == ["home 2", "work 1", "workshop 1"])
        #expect(list.tags(max: 1).map(\.name) == ["home"])
        func titles(_ tag: String, _ text: String = "") -> [String] {
            list.positions(of: .tag(tag), matching: ItemList.Words(text)).map { list[Int($0)].title }
        }
        #expect(titles("home") == ["fields:bank", "github"] && titles("home", "anna") == ["github"])
        #expect(titles("work") == ["github"] && titles("workshop") == ["Shop"] && titles("Home").isEmpty && titles("").isEmpty)
        let untagged = list.replacing(rows[0], with: items[0].record).replacing(rows[1], with: nil)
        #expect(untagged.tags(max: 9).map { "\($0.name) \($0.count)" } == ["home 1"])
        #expect(ItemList(items).tags(max: 9) == untagged.tags(max: 9))
    }

    @Test("A tag from another program is shown on one line without invisible characters")
    func hostileTag() {
        var hostile = items[0]
        hostile.record.attributes[.comment] = .text("Tags: a\u{202e}b\u{1b}c")
        #expect(ItemList([hostile]).tags(max: 9).map(\.title) == ["abc"])
    }

    @Test("The rows of a list equal those of its items")
    func rowsOfList() {
        #expect(Set(rows(of: ItemList(items))) == Set(rows))
    }

    @Test("Changing, deleting or adding an item gives the same list as reading it again")
    func replacedItems() throws {
        let list = ItemList(items)
        let renamed = Self.item([.service: .text("zoo"), .account: .text("anna")], number: 2)
        var others = items
        others[1] = renamed
        let changed = list.replacing(rows[1], with: renamed.record)
        #expect(rows(of: changed) == rows(of: ItemList(others)))
        #expect(changed.positions(in: .all, matching: "shop").isEmpty)
        #expect(changed.positions(in: .passwords, matching: "zoo").count == 1)
        let deleted = changed.replacing(ItemRow(renamed.record, reference: renamed.reference), with: nil)
        others.remove(at: 1)
        #expect(rows(of: deleted) == rows(of: ItemList(others)))
        #expect(ItemSection.allCases.map { deleted.count(in: $0) } == [7, 1, 1, 2, 1, 2])
        let added = deleted.replacing(rows[1], with: items[1].record)
        #expect(rows(of: added) == rows(of: list))
        #expect(added.position(of: rows[1]) == list.position(of: rows[1]))
    }

    @Test(
        "A password for a site with a port finds the one-time code named with that port, and for port 443 the one without",
        arguments: [
            (8443, "site.example:8443"), (443, "site.example"), (0, "site.example"),
        ] as [(Int64, String)])
    func codeOfPort(port: Int64, name: String) {
        let password = Self.item(
            [.server: .text("site.example"), .port: .number(port), .account: .text("anna"), .label: .text("site.example")],
            kind: .internetPassword, number: 1)
        let codes = ["site.example:8443", "site.example", "site.example:443"].enumerated().map { index, name in
            Self.item([.service: .text("otpauth:\(name)"), .account: .text("anna"), .label: .text("x")], number: UInt8(index + 2))
        }
        let code = ItemList([password] + codes).code(of: page(password))
        #expect(code?.subtitle == "\(name)/anna")
        #expect(page(password).row.title == name && page(password).row.subtitle == "anna")
    }

    @Test("A password finds the one-time code with its name and account")
    func codeOfPassword() {
        let list = ItemList(items)
        #expect(list.code(of: page(items[0])) == rows[2])
        #expect(list.code(of: page(items[1])) == nil)
        #expect(list.code(of: page(items[2])) == nil)
    }
}
