import Keychain
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

@Suite struct VerbTests {
    @Test("Added attributes keep their types") func addedAttributesKeepTheirTypes() throws {
        let room = try Room()
        try room.add([.service: .text("shop"), .account: .data([0, 1, 255]), .creator: .number(7)], value: "s3cret")
        let found = try room.find([.service: .text("shop"), .account: .data([0, 1, 255])])
        #expect(found.map(\.value) == ["s3cret"])
        let attributes = try #require(found.first?.record?.attributes)
        #expect(attributes[.account] == .data([0, 1, 255]))
        #expect(attributes[.creator] == .number(7))
        #expect(attributes[.accessGroup] == .text("unsigned"))
        #expect(attributes[.synchronizable] == .number(0))
        #expect(attributes[.creationDate] == .date(800_000_000_000_000))
        #expect(attributes[.creationDate] == attributes[.modificationDate])
    }

    @Test("Empty and absent values differ") func emptyAndAbsentValuesDiffer() throws {
        let room = try Room()
        try room.add([.account: .text("empty")], value: "")
        try room.add([.account: .text("none")], value: nil)
        #expect(try room.find([.account: .text("empty")]).first?.value == "")
        #expect(try room.find([.account: .text("none")]).first?.value == nil)
    }

    @Test("Values of any length are returned", arguments: [0, 1, 30, 31, 32, 4096, 1 << 20])
    func valuesOfAnyLengthComeBack(_ count: Int) throws {
        let room = try Room()
        let value = String(repeating: "x", count: count)
        try room.add([.account: .text("a")], value: value)
        #expect(try room.find([.account: .text("a")]).first?.value == value)
    }

    @Test("Text and data of the same bytes are equal") func equalityIsOverBytes() throws {
        let room = try Room()
        try room.add([.account: .text("anna"), .service: .text("s")])
        #expect(try room.find([.account: .data(Array("anna".utf8))]).count == 1)
        #expect(Refusal.Reason.of { try room.add([.account: .data(Array("anna".utf8)), .service: .text("s")]) } == .duplicateItem)
        #expect(Refusal.Reason.of { _ = try room.find([.account: .text("Anna")]) } == .itemNotFound)
        #expect(Refusal.Reason.of { _ = try room.find([.account: .number(5)]) } == .itemNotFound)
    }

    @Test("An update whose query has the date of the last change finds nothing after another change, even one during a prompt")
    func updateOfWhatWasRead() throws {
        let room = try Room()
        let name: [AttributeName: AttributeValue] = [.service: .text("s"), .account: .text("a")]
        try room.add(name, control: .userPresence)
        func asRead() throws -> [AttributeName: AttributeValue] {
            let date = try #require(try room.find(name, data: false).first?.record?.attributes[.modificationDate])
            return name.merging([.modificationDate: date]) { $1 }
        }
        func comment() throws -> AttributeValue? { try room.find(name, data: false).first?.record?.attributes[.comment] }
        let first = try asRead()
        try room.update(first, to: [.comment: .text("one")])
        #expect(try comment() == .text("one"))
        #expect(Refusal.Reason.of { try room.update(first, to: [.comment: .text("two")]) } == .itemNotFound)
        let second = try asRead()
        room.enclave.set { $0.beforeOpen = { try room.update(name, to: [.comment: .text("elsewhere")]) } }
        #expect(Refusal.Reason.of { try room.update(second, to: [.comment: .text("two")]) } == .itemNotFound)
        #expect(try comment() == .text("elsewhere"))
    }

    @Test("Uniqueness spans all protection classes and ignores other attributes") func uniquenessSpansClassesAndIgnoresTheRest() throws {
        let room = try Room()
        try room.add([.account: .text("a"), .service: .text("s"), .label: .text("one")], .whenUnlocked)
        for protection in ProtectionClass.allCases {
            let reason = Refusal.Reason.of { try room.add([.account: .text("a"), .service: .text("s"), .label: .text("two")], protection) }
            #expect(reason == .duplicateItem)
        }
        try room.add([.account: .text("a"), .service: .text("s"), .synchronizable: .number(1)])
        try room.add([.account: .text("a"), .server: .text("s")], kind: .internetPassword)
        try room.add([.account: .text("a"), .server: .text("s"), .port: .number(443)], kind: .internetPassword)
        #expect(
            Refusal.Reason.of { try room.add([.account: .text("a"), .server: .text("s"), .port: .number(0)], kind: .internetPassword) }
                == .duplicateItem)
    }

    @Test("A missing primary attribute counts as empty") func aMissingPrimaryAttributeCountsAsEmpty() throws {
        let room = try Room()
        try room.add([.account: .text("a")])
        #expect(try room.find([.account: .text("a"), .service: .text("")]).count == 1)
        #expect(try room.find([.service: .text("")]).count == 1)
        #expect(Refusal.Reason.of { try room.add([.account: .text("a"), .service: .text("")]) } == .duplicateItem)
        #expect(Refusal.Reason.of { _ = try room.find([.label: .text("")]) } == .itemNotFound)
    }

    @Test("Every attribute filters") func everyAttributeFilters() throws {
        let room = try Room()
        for number in 0..<5 {
            try room.add([
                .account: .text("a\(number)"), .service: .text("s"), .label: .text("l\(number % 2)"), .comment: .text("c\(number)"),
                .type: .number(Int64(number)),
            ])
        }
        #expect(try room.find([.service: .text("s")], limit: .all).count == 5)
        #expect(try room.find([.service: .text("s")], limit: .count(3)).count == 3)
        #expect(try room.find([.label: .text("l1")], limit: .all).count == 2)
        #expect(try room.find([.comment: .text("c3")], limit: .all).count == 1)
        #expect(try room.find([.type: .number(2), .label: .text("l0")], limit: .all).count == 1)
        #expect(try room.find([:], limit: .all).count == 5)
        #expect(try room.find([:], limit: .all) { $0.protection = .whenUnlocked }.count == 5)
        #expect(Refusal.Reason.of { _ = try room.find([:], limit: .all) { $0.protection = .always } } == .itemNotFound)
        #expect(Refusal.Reason.of { _ = try room.find([.comment: .text("c3"), .label: .text("l0")]) } == .itemNotFound)
    }

    @Test("Synchronizable items are left out unless the query names them") func synchronizableItemsAreLeftOutUnlessNamed() throws {
        let room = try Room()
        try room.add([.account: .text("a"), .synchronizable: .number(1)])
        #expect(Refusal.Reason.of { _ = try room.find([.account: .text("a")]) } == .itemNotFound)
        #expect(try room.find([.account: .text("a"), .synchronizable: .number(1)]).count == 1)
        #expect(try room.find([.account: .text("a")]) { $0.includesSynchronizable = true }.count == 1)
        #expect(Refusal.Reason.of { try room.delete([.account: .text("a")]) } == .itemNotFound)
    }

    @Test("The attributes of a result find its item") func resultFindsItsItem() throws {
        let room = try Room()
        try room.add([.account: .text("a"), .server: .text("s"), .protocolName: .text("htps"), .port: .number(1)], kind: .internetPassword)
        try room.add([.account: .text("b"), .server: .text("s")], kind: .internetPassword)
        let first = try #require(try room.find([.account: .text("a")], kind: .internetPassword).first?.record)
        #expect(
            try room.find(
                Dictionary(uniqueKeysWithValues: first.attributes.map { ($0.name, $0.value) }), kind: .internetPassword, limit: .all
            ).count == 1)
    }

    @Test("An update changes all matches or none") func updateChangesAllMatchesOrNone() throws {
        let room = try Room()
        try room.add([.account: .text("a"), .service: .text("s")], value: "1")
        try room.add([.account: .text("b"), .service: .text("s")], value: "2")
        #expect(Refusal.Reason.of { try room.update([.service: .text("s")], to: [.account: .text("c")]) } == .duplicateItem)
        #expect(try room.find([.service: .text("s")], limit: .all).compactMap(\.value).sorted() == ["1", "2"])
        try room.update([.service: .text("s")], to: [.label: .text("new")])
        #expect(try room.find([.label: .text("new")], limit: .all).compactMap(\.value).sorted() == ["1", "2"])
        try room.update([.account: .text("a")], value: "3")
        #expect(try room.find([.account: .text("a"), .label: .text("new")]).first?.value == "3")
        try room.update([.account: .text("a")], to: [.account: .text("z"), .service: .text("t")])
        #expect(Refusal.Reason.of { _ = try room.find([.account: .text("a")]) } == .itemNotFound)
        #expect(try room.find([.account: .text("z"), .service: .text("t")]).first?.value == "3")
        #expect(Refusal.Reason.of { try room.update([.account: .text("nobody")], value: "x") } == .itemNotFound)
    }

    @Test("Modification dates only grow") func modificationDatesOnlyGrow() throws {
        let room = try Room()
        try room.add([.account: .text("a"), .creationDate: .date(1), .modificationDate: .date(2)])
        room.clock.withLock { $0 -= 1_000_000 }
        try room.update([.account: .text("a")], to: [.creationDate: .date(5)], value: "2")
        let attributes = try #require(try room.find([.account: .text("a")]).first?.record?.attributes)
        #expect(attributes[.creationDate] == .date(800_000_000_000_000))
        #expect(attributes[.modificationDate] == .date(800_000_000_001_000))
    }

    @Test("An update moves an item to another protection class") func updateMovesAnItemToAnotherClass() throws {
        let room = try Room()
        try room.add([.account: .text("a")], value: "v", .whenUnlocked)
        try room.update([.account: .text("a")], protection: .alwaysThisDeviceOnly)
        #expect(try room.find([.account: .text("a")]).first?.record?.protection == .alwaysThisDeviceOnly)
        room.enclave.lock(room.leasedKeys, to: .beforeFirstUnlock)
        #expect(try room.find([.account: .text("a")]).first?.value == "v")
    }

    @Test("A delete removes all matches") func deleteTakesAllMatches() throws {
        let room = try Room()
        for number in 0..<3 { try room.add([.account: .text("a\(number)"), .service: .text(number < 2 ? "s" : "t")]) }
        try room.delete([.service: .text("s")])
        #expect(try room.find([:], limit: .all).count == 1)
        #expect(Refusal.Reason.of { try room.delete([.service: .text("s")]) } == .itemNotFound)
        let date = try #require(try room.find([:]).first?.record?.attributes[.creationDate])
        #expect(Refusal.Reason.of { try room.delete([.creationDate: .date(1)]) } == .itemNotFound)
        try room.delete([.creationDate: date])
        #expect(Refusal.Reason.of { _ = try room.find([:]) } == .itemNotFound)
    }

    @Test("Attributes that do not fit their class are refused") func attributesThatDoNotFitAreRefused() throws {
        let room = try Room()
        #expect(Refusal.Reason.of { try room.add([.server: .text("x")]) } == .noSuchAttribute)
        #expect(Refusal.Reason.of { _ = try room.find([#require(AttributeName(rawValue: "zzzz")): .text("x")]) } == .noSuchAttribute)
        #expect(Refusal.Reason.of { try room.add([.creator: .data([1])]) } == .badParameter)
        // The keychain's own group belongs to no program, in user mode too.
        #expect(Refusal.Reason.of { try room.add([.accessGroup: .text("vauban.permissions")]) } == .missingEntitlement)
        #expect(Refusal.Reason.of { _ = try room.find([.accessGroup: .text("vauban.permissions")]) } == .missingEntitlement)
        try room.add([.accessGroup: .text("unsigned")])
        #expect(Refusal.Reason.of { try room.update([:], to: [.accessGroup: .text("vauban.permissions")]) } == .missingEntitlement)
        #expect(Refusal.Reason.of { try room.add([.synchronizable: .text("syna")]) } == .badParameter)
        #expect(Refusal.Reason.of { try room.update([:], to: [.port: .number(1)]) } == .noSuchAttribute)
        #expect(Refusal.Reason.of { try room.add([.comment: .text(String(repeating: "x", count: 59_000))]) } == .dataTooLarge)
    }

    @Test("Many items arrive in several messages") func manyItemsComeInSeveralMessages() throws {
        let room = try Room()
        for number in 0..<300 {
            try room.add([.account: .text("a\(number)"), .comment: .text(String(repeating: "c", count: 400))], value: nil)
        }
        var query = ItemQuery(kind: .genericPassword)
        query.limit = .all
        query.returns.insert(.attributes)
        let replies = try room.serve(.copyMatching(query))
        #expect(replies.found.count == 300)
        #expect(replies.messages.count > 2)
        #expect(replies.messages.last == .done)
    }

    @Test("An added item is returned if the request asks for it") func anAddedItemComesBackIfAsked() throws {
        let room = try Room()
        let record = ItemRecord(kind: .genericPassword, attributes: ItemAttributes([.account: .text("a")]))
        let replies = try room.serve(.add(record, returns: [.data, .attributes], hasData: true), value: "v")
        #expect(replies.found.first?.value == "v")
        #expect(replies.found.first?.record?.attributes[.account] == .text("a"))
        #expect(replies.messages.last == .done)
    }
}
