import EnclaveWire
import Keychain
import KeychainStore
import Logging
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// Items whose use the user is notified of, and that other programs cannot recognize (Specs/canaries.md).
@Suite struct CanaryTests {
    private let name: [AttributeName: AttributeValue] = [.service: .text("aws"), .account: .text("root")]
    private let other: [AttributeName: AttributeValue] = [.service: .text("aws"), .account: .text("anna")]

    private func room() throws -> Room {
        let room = try Room()
        try room.add(name, value: "bait")
        try room.add(other, value: "real")
        return room
    }

    @Test("Reading a canary returns its value and raises an alert, and reading another item raises none")
    func read() throws {
        let room = try room()
        try room.mark(name)
        #expect(try room.find(other).first?.value == "real")
        #expect(try room.alerts() == CanaryAlerts(total: 0, seen: 0, from: nil))
        #expect(try room.find(name).first?.value == "bait")
        let alerts = try room.alerts()
        #expect(alerts.total == 1 && alerts.unseen == 1)
        let last = try #require(try room.log().last)
        #expect(last.items.filter(\.isCanary).map(\.name) == ["aws/root"])
        let number = try room.found().last?.number
        #expect(alerts.from == number)
    }

    @Test("Marking an item as a canary does not change what a search returns")
    func looks() throws {
        let room = try room()
        let before = try room.find(name, data: false)
        room.clock.withLock { $0 += 1_000_000 }
        try room.mark(name)
        #expect(try room.find(name, data: false) == before)
        #expect(try room.find(name).first?.record == before.first?.record)
        #expect(try room.alerts().total == 1)
    }

    @Test("A search that returns no value raises no alert")
    func searches() throws {
        let room = try room()
        try room.mark(name)
        _ = try room.find([:], data: false, limit: .all)
        #expect(try room.alerts().total == 0)
    }

    @Test("The database of a canary has the same columns and sizes as that of an ordinary item")
    func stored() throws {
        let room = try room()
        let before = try room.rows()
        try room.mark(name)
        try room.mark(other)
        try room.mark(other, isCanary: false)
        for (old, new) in zip(before, try room.rows()) {
            #expect((old.id, old.item, old.blinds) == (new.id, new.item, new.blinds))
            #expect(old.halves.metadata.count == new.halves.metadata.count && old.halves.metadata != new.halves.metadata)
            #expect(old.halves.secret == new.halves.secret && old.halves.metadataBinding.count == new.halves.metadataBinding.count)
        }
    }

    @Test("A canary stays marked through changes, a rewrap, an undo and an undelete")
    func stays() throws {
        let room = try room()
        try room.mark(name)
        try room.update(name, to: [.comment: .text("new")])
        try room.update(name, value: "second")
        try room.serve(.history(.undo(room.query(name), number: 1)))
        try room.enclave.renew(.metadata(.whenUnlocked))
        room.leasedKeys.forget(Room.user)
        try room.rewrap()
        let item = try #require(try room.rows().first?.item)
        try room.delete(name)
        try room.serve(.history(.undelete(item)))
        let before = try room.alerts().total
        #expect(try room.find(name).first?.value == "bait")
        #expect(try room.alerts().total == before + 1)
        #expect(try room.canaries() == ["aws/root"])
    }

    @Test("A change, a deletion and a refused read of a canary raise alerts")
    func otherUses() throws {
        let room = try Room()
        try room.add(name, value: "bait", control: .userPresence)
        try room.mark(name)
        room.enclave.set { $0.userAnswers = Refusal(.cancelled) }
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .cancelled)
        #expect(try room.alerts().total == 1)
        room.enclave.set { $0.userAnswers = nil }
        try room.update(name, value: "mine")
        #expect(try room.alerts().total == 2)
        try room.delete(name)
        #expect(try room.alerts().total == 3)
    }

    @Test("Reading an earlier value of a canary raises an alert, even if it is refused or older than the mark")
    func earlierValues() throws {
        let room = try Room()
        try room.add(name, value: "first", control: .userPresence)
        try room.update(name, value: "second")
        try room.mark(name)
        #expect(try room.alerts().total == 0)
        let read = KeychainRequest.history(.value(room.query(name), number: 1))
        #expect(try room.serve(read).found.map(\.value) == ["first"])
        #expect(try room.alerts().total == 1)
        room.enclave.set { $0.userAnswers = Refusal(.cancelled) }
        for (request, total) in [(read, 2), (.history(.undo(room.query(name), number: 1)), 3)] as [(KeychainRequest, Int64)] {
            #expect(Refusal.Reason.of { try room.serve(request) } == .cancelled)
            #expect(try room.alerts().total == total)
        }
        #expect(try room.log().flatMap(\.items).filter(\.isCanary).map(\.name) == ["aws/root", "aws/root", "aws/root"])
    }

    @Test("A deletion of many items raises an alert for each canary, even if none was read since the start")
    func deletedAmongMany() throws {
        let room = try Room()
        let count = AccessRecord.itemsMax + 8
        for number in 0..<count { try room.add([.service: .text("s"), .account: .text("\(number)")]) }
        for number in [3, count - 1] { try room.mark([.account: .text("\(number)")]) }
        try room.restart()
        try room.delete([.service: .text("s")])
        #expect(try room.alerts().total == 2)
        let deleted = try room.log().filter { $0.action == .deleted }.flatMap(\.items)
        #expect(deleted.count == count && deleted.filter { !$0.name.isEmpty }.count == AccessRecord.itemsMax + 1)
        #expect(deleted.filter(\.isCanary).map(\.name) == ["s/3", "s/\(count - 1)"])
    }

    @Test("A request for a canary that the user refuses raises an alert, even if the item was not opened since the start")
    func refusedInAPrompt() throws {
        let room = try Room()
        let (mail, script, owner) = (Callers.installed("/usr/bin/mail"), Callers.script(), "program:/usr/bin/mail")
        for account in ["root", "anna"] {
            try room.add(account, as: mail)
            try room.add(account, as: script)
        }
        room.enclave.set { $0.consentAnswers = .success(.once) }
        for group in [owner, "unsigned"] { try room.mark([.account: .text("root"), .accessGroup: .text(group)]) }
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        for group in [owner, nil] {
            try room.restart()
            let before = try room.alerts().total
            #expect(Refusal.Reason.of { _ = try room.get("anna", as: script, group: group) } == .cancelled)
            #expect(Refusal.Reason.of { _ = try room.get("nobody", as: script, group: owner) } == .cancelled)
            _ = try room.log()
            #expect(try room.alerts().total == before)
            #expect(Refusal.Reason.of { _ = try room.get("root", as: script, group: group) } == .cancelled)
            #expect(Refusal.Reason.of { try room.delete("root", as: script, group: group) } == .cancelled)
            let items = try room.log().flatMap(\.items).filter(\.isCanary)
            #expect(try room.alerts().total == before + 2)
            #expect(items.suffix(2).allSatisfy { $0.name == "s/root" && $0.owner == group ?? "unsigned" && !$0.item.isEmpty })
        }
        // A request without an account may mean it, too.
        let before = try room.alerts().total
        #expect(Refusal.Reason.of { _ = try room.get(as: script, group: owner) } == .cancelled)
        _ = try room.log()
        #expect(try room.alerts().total == before + 1)
    }

    @Test("The thread that writes the log raises the alert for a canary that the user refused", .timeLimit(.minutes(30)))
    func refusedAndLogged() throws {
        let room = try Room(pauseMilliseconds: 20)
        try room.add("root", as: Callers.installed("/usr/bin/mail"))
        try room.mark([.account: .text("root"), .accessGroup: .text("program:/usr/bin/mail")])
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        #expect(Refusal.Reason.of { _ = try room.get("root", as: Callers.script(), group: "program:/usr/bin/mail") } == .cancelled)
        while try room.database.canaryAlerts().total == 0 {}
    }

    @Test("A canary that the user refused is found beyond the rows that are read in one turn", .timeLimit(.minutes(30)))
    func refusedBeyondOneTurn() throws {
        let room = try Room(pauseMilliseconds: 20)
        for number in 0...KeychainLimits.refusedRowsOfTurn { try room.add([.service: .text("many"), .account: .text("\(number)")]) }
        try room.add("root", as: Callers.installed("/usr/bin/mail"))
        try room.mark([.account: .text("root"), .accessGroup: .text("program:/usr/bin/mail")])
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        #expect(Refusal.Reason.of { _ = try room.get("root", as: Callers.script(), group: "program:/usr/bin/mail") } == .cancelled)
        while try room.database.canaryAlerts().total == 0 {}
    }

    @Test("A request for the value of a locked canary that was read before is refused and raises an alert")
    func locked() throws {
        let room = try room()
        try room.mark(name)
        room.enclave.lock(room.leasedKeys)
        #expect(Refusal.Reason.of { _ = try room.find(name, data: false) } == .locked)
        #expect(try room.alerts().total == 0)
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .locked)
        #expect(try room.alerts().total == 1)
    }

    @Test("Only the command line marks canaries, and it lists them, unmarks them and acknowledges alerts with the user's approval")
    func whoMarks() throws {
        let room = try Room()
        let (shell, mail) = (Callers.commandLine(), Callers.installed("/usr/bin/mail"))
        try room.add("root", as: shell)
        let query = room.query([.account: .text("root")])
        for request in [CanaryRequest.mark(query, isCanary: true), .mark(query, isCanary: false), .list, .acknowledge(total: 1)] {
            #expect(Refusal.Reason.of { try room.serve(.canary(request), as: mail) } == .notAllowedHere)
        }
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        try room.serve(.canary(.mark(query, isCanary: true)), as: shell)
        _ = try room.get("root", as: shell)
        for request in [CanaryRequest.mark(query, isCanary: false), .list, .acknowledge(total: 1)] {
            #expect(Refusal.Reason.of { try room.serve(.canary(request), as: shell) } == .cancelled)
        }
        #expect(try room.alerts(as: shell).unseen == 1)
        room.enclave.set { $0.consentAnswers = .success(.once) }
        try room.serve(.canary(.acknowledge(total: 1)), as: shell)
        #expect(try room.alerts(as: shell) == CanaryAlerts(total: 1, seen: 1, from: nil))
        #expect(try room.canaries(as: shell) == ["s/root"])
        try room.serve(.canary(.mark(query, isCanary: false)), as: shell)
        _ = try room.get("root", as: shell)
        #expect(try room.alerts(as: shell).total == 1)
        #expect(try room.canaries(as: shell).isEmpty)
    }

    @Test("Alerts survive a restart, and are counted even if the log has no keys")
    func outlast() throws {
        let room = try room()
        try room.mark(name)
        _ = try room.find(name)
        _ = try room.alerts()
        try room.restart()
        #expect(try room.alerts().unseen == 1)
        try room.restart()
        room.enclave.set { $0.logRefusal = Refusal(.storageFailed) }
        _ = try room.find(name)
        #expect(try room.alerts().total == 2)
        room.enclave.set { $0.logRefusal = nil }
        #expect(try room.log().last?.items.map(\.isCanary) == [true])
        #expect(try room.alerts().total == 2)
    }

    @Test("A program that has used up its log records does not hide a canary behind others")
    func flooding() throws {
        let room = try room()
        try room.mark(name)
        let caller = Caller(user: Room.user)
        for number in 0..<40 { try room.add([.service: .text("s"), .account: .text("\(number)")]) }
        for number in 0..<2000 { try room.update(other, value: "\(number)") }
        for _ in 0..<2100 {
            _ = try room.find(other)
            // Writes the recorded uses.
            try room.serve(.canary(.acknowledge(total: 0)))
        }
        var all = room.query([.service: .text("s")]) { $0.returns.insert(.data) }
        all.limit = .all
        _ = try room.serve(.copyMatching(all), as: caller)
        _ = try room.serve(.copyMatching(room.query(name) { $0.returns.insert(.data) }), as: caller)
        let items = try room.log().flatMap(\.items)
        #expect(items.contains { $0.isFurther })
        #expect(items.filter(\.isCanary).map(\.name) == ["aws/root"])
    }

    @Test("A program that uses canaries all the time displaces no journal line of another program or user")
    func fairness() throws {
        let journal = Journal()
        let room = try Room(logger: journal.logger)
        room.enclave.set { $0.consentAnswers = .success(.once) }
        let (mail, chat) = (Callers.installed("/usr/bin/mail"), Callers.installed("/usr/bin/chat"))
        for (caller, path) in [(mail, "/usr/bin/mail"), (chat, "/usr/bin/chat")] {
            try room.add("root", as: caller)
            try room.mark([.account: .text("root"), .accessGroup: .text("program:\(path)")])
        }
        let started = MachineClock.boot
        /// How many lines one subject may have by now: on a slow machine, a further one for each minute.
        func linesMax() -> UInt64 { 1 + (MachineClock.boot - started) / KeychainLimits.alertLineNanoseconds }
        for _ in 0..<500 { _ = try room.get("root", as: mail) }
        _ = try room.get("root", as: chat)
        let programs = journal.programs(of: Room.user)
        #expect(programs.first == "/usr/bin/mail" && programs.last == "/usr/bin/chat")
        #expect(programs.count(where: { $0 == "/usr/bin/chat" }) == 1 && programs.count <= linesMax() + 1)
        #expect(try room.alerts().total == 501)
        // The line of another user is not left out either, and no line counts the uses of another user.
        let item = UsedItem(item: [UInt8](repeating: 1, count: 16), kind: 1, owner: "cli", name: "aws/root", isCanary: true)
        let use = AccessUse(caller: AccessCaller(nil), action: .read, outcome: .done, item: item, date: 0)
        for _ in 0..<500 { room.accessLogs.alert(7, of: use) }
        room.accessLogs.alert(8, of: use)
        #expect(journal.lines(of: 7).count >= 1 && journal.lines(of: 7).count <= linesMax() && journal.lines(of: 8).count == 1)
        #expect(journal.lines(of: 8).first?["further"] == nil)
    }

    @Test("Constant reads of one user's canary do not delay the log of another user", .timeLimit(.minutes(30)))
    func delays() throws {
        let room = try Room(pauseMilliseconds: 20)
        try room.add(other)
        let before = try #require(try room.database.lastLogRow()).number
        _ = try room.find(other)
        let item = UsedItem(item: [UInt8](repeating: 1, count: 16), kind: 1, owner: "cli", name: "aws/root", isCanary: true)
        let use = AccessUse(caller: AccessCaller(nil), action: .read, outcome: .done, item: item, date: 0)
        while try #require(try room.database.lastLogRow()).number == before { room.accessLogs.alert(7, of: use) }
    }

    @Test("The last read and the last change of an item are found, each with its program")
    func lastUses() throws {
        let room = try Room()
        let shell = Callers.commandLine()
        try room.add("anna", as: shell)
        try room.add("bert", as: shell)
        _ = try room.get("anna", as: shell)
        for _ in 0..<1200 { _ = try room.log(as: shell) }
        _ = try room.get("bert", as: shell)
        let item = try #require(try room.rows().first?.item)
        let uses = try room.lastUses(of: item, as: shell)
        #expect(uses.read?.record?.items.map(\.name) == ["s/anna"] && uses.read?.record?.program?.path == "/usr/bin/bash")
        #expect(uses.changed?.record?.action == .added && uses.coversAll)
        #expect(Refusal.Reason.of { _ = try room.lastUses(of: item, as: Callers.installed("/usr/bin/mail")) } == .notAllowedHere)
        let foreign = try room.lastUses(of: [UInt8](repeating: 1, count: 16), as: shell)
        #expect(foreign == LastUses(read: nil, changed: nil, coversAll: true))
    }
}

extension Room {
    fileprivate func mark(_ attributes: [AttributeName: AttributeValue], isCanary: Bool = true) throws {
        try serve(.canary(.mark(query(attributes), isCanary: isCanary)))
    }

    fileprivate func alerts(as caller: Caller = Caller(user: Room.user)) throws -> CanaryAlerts {
        guard case .canaryAlerts(let alerts)? = try serve(.canary(.alerts(after: nil)), as: caller).messages.first else {
            throw Refusal(.internalError)
        }
        return alerts
    }

    fileprivate func canaries(as caller: Caller = Caller(user: Room.user)) throws -> [String] {
        try serve(.canary(.list), as: caller).found.compactMap { found in
            guard let attributes = found.record?.attributes, case .text(let service)? = attributes[.service],
                case .text(let account)? = attributes[.account]
            else { return nil }
            return "\(service)/\(account)"
        }
    }
}

/// Keeps the lines about canaries that a room writes into its journal.
private final class Journal: LogHandler {
    private let recorded = Mutex<[Logger.Metadata]>([])
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .warning }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    var logger: Logger { Logger(label: "test") { _ in self } }

    func log(event: LogEvent) {
        guard "\(event.message)" == "a canary item was used", let metadata = event.metadata else { return }
        recorded.withLock { $0.append(metadata) }
    }

    func lines(of user: UInt32) -> [Logger.Metadata] { recorded.withLock { $0.filter { $0["user"] == "\(user)" } } }

    func programs(of user: UInt32) -> [String] { lines(of: user).compactMap { $0["program"].map { "\($0)" } } }
}
