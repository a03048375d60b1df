import Crypto
import EnclaveWire
import Foundation
import Keychain
import KeychainStore
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel

/// The key uses that the enclave counts, in the access log (Specs/access-log.md).
@Suite struct KeyUseLogTests {
    private static let signer = CallerIdentity(.installed, executable: Callers.executable("/usr/bin/signer"), chain: ["/usr/bin/signer"])
    private let caller = Callers.installed("/usr/bin/signer")
    private let shell = Callers.commandLine()
    private static let key = "the key's bytes"

    private static func used(_ value: String = key) -> UsedKey {
        UsedKey(digest: Array(SHA256.hash(data: Data(value.utf8))), label: [UInt8](repeating: 2, count: 20))
    }

    private func notice(_ uses: [CountedKeyUse], by identity: CallerIdentity? = signer, unrecorded: Int64 = 0) -> KeyUseNotice {
        KeyUseNotice(user: Room.user, identity: identity, teamIsTrusted: false, unrecorded: unrecorded, uses: uses)
    }

    private func signed(_ count: Int64, value: String = key, outcome: KeyUseOutcome = .done) -> CountedKeyUse {
        CountedKeyUse(key: Self.used(value), action: .signed, outcome: outcome, count: count)
    }

    @Test("Signatures are recorded with their number, the program, and the name and owner of the key's item")
    func signatures() throws {
        let room = try Room()
        try room.addKey("work", as: shell)
        room.accessLogs.receive(notice([signed(12), signed(1, value: Self.key, outcome: .notApproved)]))
        room.accessLogs.receive(notice([signed(3), CountedKeyUse(key: Self.used(), action: .decrypted, outcome: .approved, count: 1)]))
        let records = try room.log(as: shell).dropFirst().sorted {
            ($0.action.rawValue, $0.outcome.rawValue) < ($1.action.rawValue, $1.outcome.rawValue)
        }
        #expect(records.map(\.action) == [.signed, .signed, .decrypted] && records.map(\.outcome) == [.done, .notApproved, .approved])
        #expect(records.flatMap(\.items).map(\.count) == [15, 1, 1])
        #expect(Set(records.flatMap(\.items).map(\.name)) == ["work"] && Set(records.flatMap(\.items).map(\.owner)) == ["cli"])
        #expect(Set(records.map { $0.program?.path }) == ["/usr/bin/signer"])
        let item = try #require(try room.rows(.key).first?.item)
        guard case .lastUses(let uses)? = try room.serve(.lastUses(of: item), as: shell).messages.first else {
            throw Refusal(.internalError)
        }
        #expect(uses.keyUsed?.record?.program?.path == "/usr/bin/signer" && uses.changed?.record?.action == .added)
    }

    @Test("A key without a known item is recorded by its label, and only those who see all items see it")
    func unknownKey() throws {
        let room = try Room()
        try room.addKey("work", as: shell)
        room.accessLogs.receive(notice([signed(2, value: "another key")]))
        #expect(try room.log(as: shell).map(\.action) == [.added])
        room.enclave.set { $0.consentAnswers = .success(.once) }
        let last = try #require(try room.log(as: shell, ofAllOwners: true).last)
        #expect(last.items.map(\.name) == ["private key " + String(repeating: "02", count: 20)] && last.items.map(\.count) == [2])
    }

    @Test("Storing another program's key does not rename it in the log, and after its deletion the log names no item")
    func oneItemForAKey() throws {
        let room = try Room()
        try room.addKey("work", as: shell)
        try room.addKey("harmless", as: caller)
        room.accessLogs.receive(notice([signed(1)]))
        #expect(try room.log(as: shell).last?.items.map(\.name) == ["work"])
        try room.serve(.delete(ItemQuery(kind: .key, attributes: ItemAttributes([.label: .text("work")]))), as: shell)
        room.accessLogs.receive(notice([signed(1)]))
        room.enclave.set { $0.consentAnswers = .success(.once) }
        let last = try #require(try room.log(as: shell, ofAllOwners: true).last)
        #expect(last.action == .signed && last.items.first?.name.hasPrefix("private key ") == true)
    }

    @Test("Key uses after a restart are recorded once the log has a series, and named once their item was read")
    func afterARestart() throws {
        let room = try Room()
        try room.addKey("work", as: shell)
        try room.restart()
        room.accessLogs.receive(notice([signed(2)]))
        room.accessLogs.receive(notice([signed(3)]))
        var query = ItemQuery(kind: .key, attributes: ItemAttributes([.label: .text("work")]))
        query.returns = .data
        try room.serve(.copyMatching(query), as: shell)
        let records = try room.log(as: shell).filter { $0.action == .signed }
        #expect(records.flatMap(\.items).map(\.count) == [5] && records.flatMap(\.items).map(\.name) == ["work"])
    }

    @Test("The log counts all uses, even of many keys and by many programs")
    func manyKeys() throws {
        let room = try Room()
        try room.addKey("work", as: shell)
        for number in 0..<40 {
            room.accessLogs.receive(notice((0..<32).map { signed(1, value: "key \(number) \($0)") }))
        }
        for number in 0..<100 {
            let path = "/usr/bin/\(number)"
            let program = CallerIdentity(.installed, executable: Callers.executable(path), chain: [path])
            room.accessLogs.receive(notice([signed(1)], by: program))
        }
        room.enclave.set { $0.consentAnswers = .success(.once) }
        let records = try room.log(as: shell, ofAllOwners: true).filter { $0.action == .signed }
        let counted = records.flatMap(\.items).reduce(0) { $0 + $1.count }
        #expect(counted + records.reduce(0) { $0 + $1.unrecorded } == 40 * 32 + 100)
        #expect(records.flatMap(\.items).contains { $0.isFurther })
        #expect(Set(records.map { $0.program?.path }).count == KeyUseTally.programsMax)
    }
}

extension Room {
    /// Adds an item whose value is a key of the enclave.
    fileprivate func addKey(_ label: String, as caller: Caller) throws {
        let attributes: [AttributeName: AttributeValue] = [
            .label: .text(label), .tokenID: .text(EnclaveToken.identifier), .applicationLabel: .data(Array(label.utf8)),
            .accessControl: .data(try AccessControl(protection: .whenUnlocked, flags: .privateKeyUsage).encoded()),
        ]
        let record = ItemRecord(kind: .key, attributes: ItemAttributes(attributes))
        try serve(.add(record, returns: [], hasData: true), value: "the key's bytes", as: caller)
    }
}
