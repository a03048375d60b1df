import EnclaveWire
import Keychain
import KeychainStore
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// Earlier values of items (Specs/history.md).
@Suite struct HistoryTests {
    private let name: [AttributeName: AttributeValue] = [.service: .text("mail"), .account: .text("anna")]

    @Test("The last ten values are kept, newest first, and no search finds them")
    func tenValues() throws {
        let room = try Room()
        try room.add(name, value: "value 0")
        for number in 1...13 {
            room.clock.withLock { $0 += 1_000_000 }
            try room.update(name, value: "value \(number)")
        }
        #expect(try room.versions(name).count == 10)
        #expect(try room.versions(name).first?.replaced == room.clock.withLock { $0 })
        for number in 1...10 { #expect(try room.earlier(name, number: number) == "value \(13 - number)") }
        #expect(Refusal.Reason.of { _ = try room.earlier([.service: .text("none")], number: 1) } == .itemNotFound)
        #expect(try room.find([:], limit: .all).count == 1)
        #expect(try room.find(name).first?.value == "value 13")
        #expect(try room.rows().count == 1)
    }

    @Test("An update without a value keeps no earlier one, and a rename keeps the history")
    func onlyValues() throws {
        let room = try Room()
        try room.add(name, value: "one")
        try room.update(name, to: [.label: .text("a label")])
        try room.update(name, protection: .afterFirstUnlock)
        #expect(try room.versions(name).isEmpty)
        try room.update(name, value: "two")
        try room.update(name, to: [.account: .text("bert")])
        let renamed: [AttributeName: AttributeValue] = [.service: .text("mail"), .account: .text("bert")]
        #expect(try room.earlier(renamed, number: 1) == "one")
        try room.update(renamed, value: "three")
        #expect(try room.earlier(renamed, number: 1) == "two" && room.earlier(renamed, number: 2) == "one")
    }

    @Test("Undo restores the previous value, and a second undo reverts that")
    func undo() throws {
        let room = try Room()
        try room.add(name, value: "one")
        let without = Refusal.of { try room.undo(name) }
        #expect(without?.reason == .itemNotFound && without?.earlierValues == 0)
        try room.update(name, value: "two")
        let beyond = Refusal.of { try room.undo(name, 2) }
        #expect(beyond?.reason == .itemNotFound && beyond?.earlierValues == 1 && beyond?.detail == "The item has 1 earlier secret")
        try room.update(name, to: [.label: .text("kept")], value: "three")
        try room.undo(name)
        #expect(try room.find(name).first?.value == "two")
        #expect(try room.find(name).first?.record?.attributes[.label] == .text("kept"))
        try room.undo(name)
        #expect(try room.find(name).first?.value == "three")
        try room.undo(name, 2)
        #expect(try room.find(name).first?.value == "one")
        #expect(try room.earlier(name, number: 1) == "three" && room.earlier(name, number: 2) == "two")
        #expect(try room.versions(name).count == 2)
    }

    @Test("A list has the item and its earlier versions with the attributes of their time, each in a message that is not too large")
    func attributes() throws {
        let room = try Room()
        let comments = ["a", "b", "c"].map { AttributeValue.text(String(repeating: $0, count: 57_000)) }
        try room.add(name.merging([.comment: comments[0]]) { $1 }, value: "one")
        // This alone keeps nothing.
        try room.update(name, to: [.label: .text("of one")])
        try room.update(name, to: [.comment: comments[1], .label: .text("of two")], value: "two")
        try room.update(name, to: [.comment: comments[2]], value: "three")
        let replies = try room.history(.list(room.query(name)))
        #expect(replies.found.map { $0.record?.attributes[.comment] } == [comments[2]])
        #expect(replies.versions.map { $0.record.attributes[.comment] } == [comments[1], comments[0]])
        #expect(replies.versions.map { $0.record.attributes[.label] } == [.text("of two"), .text("of one")])
        #expect(try replies.messages.allSatisfy { try $0.encoded().count <= ConnectionLimits.headerBytesMax })
        // Restoring an earlier value restores no attribute.
        try room.undo(name, 2)
        #expect(try room.find(name).first?.value == "one")
        #expect(try room.find(name).first?.record?.attributes[.comment] == comments[2])
        #expect(try room.versions(name).map { $0.record.attributes[.comment] } == [comments[2], comments[1]])
    }

    @Test("Versions of another program's item are described only with the user's consent")
    func othersVersions() throws {
        let room = try Room()
        let mail = Callers.installed("/usr/bin/mail")
        let record = ItemRecord(kind: .genericPassword, attributes: ItemAttributes(name.merging([.comment: .text("first")]) { $1 }))
        try room.serve(.add(record, returns: [], hasData: true), value: "one", as: mail)
        let changes = ItemChanges(attributes: ItemAttributes([.comment: .text("second")]), hasData: true)
        try room.serve(.update(room.query(name), changes), value: "two", as: mail)
        let hand = Callers.commandLine()
        let list = HistoryRequest.list(room.query(name) { $0.attributes[.accessGroup] = .text("program:/usr/bin/mail") })
        #expect(Refusal.Reason.of { try room.history(.list(room.query(name) { $0.authenticationUI = .fail }), as: hand) } != nil)
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        #expect(Refusal.Reason.of { try room.history(list, as: hand) } == .cancelled)
        room.enclave.set { $0.consentAnswers = .success(.once) }
        let replies = try room.history(list, as: hand)
        #expect(replies.found.map { $0.record?.attributes[.comment] } == [.text("second")])
        #expect(replies.versions.map { $0.record.attributes[.comment] } == [.text("first")])
    }

    @Test("An earlier value prompts as the item did when it had that value")
    func earlierValuePromptsAsTheItemDid() throws {
        let room = try Room()
        let control = try AccessControl(protection: .whenUnlocked, flags: .userPresence)
        try room.add(name, value: "open")
        try room.update(name, value: "guarded", control: control)
        #expect(try room.earlier(name, number: 1) == "open")
        #expect(room.enclave.state.withLock { $0.promptCount } == 0)
        try room.update(name, value: "guarded too")
        let asked = room.enclave.state.withLock { $0.promptCount }
        #expect(try room.earlier(name, number: 1) == "guarded")
        #expect(room.enclave.state.withLock { $0.promptCount } == asked + 1)
        #expect(Refusal.Reason.of { _ = try room.earlier(name, number: 1) { $0.authenticationUI = .fail } } == .interactionNotAllowed)
        room.enclave.set { $0.userAnswers = Refusal(.cancelled) }
        #expect(Refusal.Reason.of { _ = try room.earlier(name, number: 1) } == .cancelled)
        #expect(Refusal.Reason.of { try room.undo(name) } == .cancelled)
        // Listing does not prompt, and reports which values open without one.
        #expect(try room.versions(name).map { $0.record.accessControl } == [control, nil])
        #expect(try room.earlier(name, number: 2) == "open")
        // Restoring it requires reading the present value, which is protected.
        #expect(Refusal.Reason.of { try room.undo(name, 2) } == .cancelled)
    }

    @Test("An earlier value opens only with the application password of its time")
    func applicationPassword() throws {
        let room = try Room()
        try room.add(name, value: "one", control: .applicationPassword, password: "first")
        try room.update(name, value: "two", password: "first")
        #expect(Refusal.Reason.of { _ = try room.earlier(name, number: 1) } == .cancelled)
        room.enclave.set { $0.typedPassword = Array("first".utf8) }
        #expect(try room.earlier(name, number: 1) == "one")
        // Restoring seals the value again, under no application password except one that comes with the request: the user is not prompted
        // for another.
        #expect(Refusal.Reason.of { try room.undo(name, 1) } == .applicationPasswordMissing)
        #expect(room.enclave.state.withLock { $0.promptCount } == 2)
        #expect(Refusal.Reason.of { _ = try room.earlier(name, number: 1, password: "wrong") } == .authenticationFailed)
        #expect(try room.earlier(name, number: 1, password: "first") == "one")
        // A caller with only the earlier password cannot put the earlier value, and with it that password, in place of the present one.
        try room.update(name, value: "three", password: "second")
        #expect(Refusal.Reason.of { try room.history(.undo(room.query(name), number: 2), password: "first") } == .authenticationFailed)
        #expect(try room.find(name, password: "second").first?.value == "three")
    }

    @Test("The history of a locked class is locked, also if the item is not")
    func locked() throws {
        let room = try Room()
        try room.add(name, value: "one")
        try room.update(name, value: "two")
        let other: [AttributeName: AttributeValue] = [.service: .text("other")]
        try room.add(other, value: "one")
        try room.update(other, value: "two", protection: .afterFirstUnlock)
        room.enclave.lock(room.leasedKeys)
        #expect(try room.find(other).first?.value == "two")
        #expect(Refusal.Reason.of { _ = try room.versions(other) } == .locked)
        #expect(Refusal.Reason.of { _ = try room.versions(name) } == .locked)
        #expect(Refusal.Reason.of { _ = try room.earlier(name, number: 1) } == .locked)
    }

    @Test("A disabled history keeps nothing new, and existing values stay until cleared")
    func switchedOff() throws {
        let room = try Room()
        try room.add(name, value: "one")
        try room.update(name, value: "two")
        #expect(try room.history(.setting(false)).messages.first == .keepsHistory(false))
        try room.restart()
        try room.update(name, value: "three")
        #expect(try room.versions(name).count == 1 && room.earlier(name, number: 1) == "one")
        try room.delete(name)
        #expect(try room.deleted().isEmpty && room.database.historyRows(after: 0, count: 10, bytesMax: .max).isEmpty)
        try room.history(.setting(true))
        try room.add(name, value: "four")
        try room.update(name, value: "five")
        #expect(try room.history(.clear(room.query(name))).messages.first == .cleared(1))
        #expect(try room.versions(name).isEmpty)
        try room.update(name, value: "six")
        try room.delete(name)
        // The deleted item and its earlier value.
        #expect(try room.history(.clear(nil)).messages.first == .cleared(2))
        #expect(try room.deleted().isEmpty)
    }

    @Test("If another program changes the item while an earlier value is restored, no other value is restored in its place")
    func changedDuringUndo() throws {
        let room = try Room()
        try room.add(name, value: "one")
        try room.update(name, value: "two")
        let name = name
        room.enclave.set { $0.beforeOpen = { try room.update(name, value: "three") } }
        try room.undo(name)
        #expect(try room.find(name).first?.value == "one")
        #expect(try room.earlier(name, number: 1) == "three" && room.earlier(name, number: 2) == "two")
        room.enclave.set { $0.beforeOpen = { try room.history(.clear(room.query(name))) } }
        #expect(Refusal.of { try room.undo(name) }?.detail == "The history of the item has changed meanwhile; look at it again")
        #expect(try room.find(name).first?.value == "one")
    }

    @Test("Rows of the history are rewrapped, and older keys stay until then")
    func rewrapped() throws {
        let room = try Room()
        try room.add(name, value: "one")
        try room.update(name, value: "two")
        try room.add([.service: .text("gone")], value: "deleted")
        try room.delete([.service: .text("gone")])
        try room.enclave.renew(.metadata(.whenUnlocked))
        let progress = try room.rewrap()
        #expect(progress.done == 3 && progress.left == 0 && progress.kept == 0)
        #expect(room.enclave.state.withLock { state in state.keys.filter { $0.name.purpose == .metadata(.whenUnlocked) }.count } == 1)
        #expect(try room.earlier(name, number: 1) == "one")
        try room.history(.undelete(try #require(try room.deleted().first).item))
        #expect(try room.find([.service: .text("gone")]).first?.value == "deleted")
    }

    @Test("Destroying a class key removes earlier values of its class")
    func destroyed() throws {
        let room = try Room()
        try room.add(name, value: "one")
        try room.update(name, value: "two", protection: .afterFirstUnlock)
        try room.enclave.renew(.metadata(.whenUnlocked), destroyingOld: true)
        try room.restart()
        try room.serve(.discard)
        #expect(try room.versions(name).isEmpty)
        #expect(try room.find(name).first?.value == "two")
    }

    @Test("The doctor verifies the history, quarantines unopenable rows, and restores those that open again")
    func examined() throws {
        let room = try Room()
        try room.add(name, value: "one")
        try room.update(name, value: "two")
        guard case .examined(let good)? = try room.serve(.examine).messages.dropLast().last else { throw Refusal(.internalError) }
        #expect(good.found == 0 && good.checked == 1 && good.copy?.state == .kept)
        let before = room.enclave.state.withLock { $0.sealed }
        room.enclave.set { $0.sealed = [:] }
        try room.serve(.examine)
        #expect(try room.database.quarantinedCount() == 2)
        room.enclave.set { $0.sealed = before }
        try room.serve(.examine)
        #expect(try room.find(name).first?.value == "two" && room.earlier(name, number: 1) == "one")
        #expect(try room.database.quarantinedCount() == 0)
    }

    @Test("The history of each owner is limited, and one that is too long does not shorten that of others")
    func bounded() throws {
        let room = try Room()
        let large = String(repeating: "x", count: 1 << 20)
        try room.add(name, value: "small")
        try room.update(name, value: "kept")
        for item in 0..<3 {
            let name: [AttributeName: AttributeValue] = [.service: .text("large \(item)"), .accessGroup: .text("program:/usr/bin/other")]
            try room.add(name, value: large)
            for _ in 0..<9 { try room.update(name, value: large) }
        }
        let rows = try room.database.historyRows(after: 0, count: .max, bytesMax: .max)
        #expect(rows.reduce(0) { $0 + $1.halves.secret.count } <= HistoryLimits.ownerBytesMax)
        #expect(rows.count > 10)
        #expect(try room.earlier(name, number: 1) == "small")
    }
}

extension Replies {
    fileprivate var versions: [ItemVersion] { messages.compactMap { if case .version(let version) = $0 { version } else { nil } } }
}

extension Room {
    func query(_ attributes: [AttributeName: AttributeValue], _ change: (inout ItemQuery) -> Void = { _ in }) -> ItemQuery {
        var query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes(attributes))
        change(&query)
        return query
    }

    @discardableResult
    func history(_ request: HistoryRequest, password: String? = nil, as caller: Caller = Caller(user: Room.user)) throws -> Replies {
        try serve(.history(request, passwordBytes: password?.utf8.count), value: password, as: caller)
    }

    func versions(_ attributes: [AttributeName: AttributeValue]) throws -> [ItemVersion] {
        try history(.list(query(attributes))).versions
    }

    func earlier(
        _ attributes: [AttributeName: AttributeValue], number: Int, password: String? = nil,
        change: (inout ItemQuery) -> Void = { _ in }
    ) throws -> String? {
        try history(.value(query(attributes, change), number: number), password: password).found.first?.value
    }

    func undo(_ attributes: [AttributeName: AttributeValue], _ number: Int = 1) throws {
        try history(.undo(query(attributes), number: number))
    }

    func deletedOfAll(as caller: Caller) throws -> [DeletedItem] {
        try history(.deleted(ofAllOwners: true), as: caller).messages.compactMap { if case .deleted(let item) = $0 { item } else { nil } }
    }

    func deleted(as caller: Caller = Caller(user: Room.user)) throws -> [DeletedItem] {
        try history(.deleted(ofAllOwners: false), as: caller).messages.compactMap { if case .deleted(let item) = $0 { item } else { nil } }
    }
}
