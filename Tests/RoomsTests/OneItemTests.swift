// Many clients and one item: on Apple's systems each call completes, and so it does here.

import Foundation
import Synchronization
import TestSupport
import Testing
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

@Suite("One item with many clients", .serialized)
struct OneItemTests {
    private static let clients = 40

    /// Runs a call for every client concurrently, each on its own connection, and returns how they ended.
    private func atOnce(_ rooms: Rooms, _ call: @escaping @Sendable (KeychainClient, Int) throws -> Void) -> [Refusal?] {
        let ends = Mutex<[Refusal?]>([])
        let start = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        for number in 0..<Self.clients {
            group.enter()
            let thread = Thread {
                defer { group.leave() }
                let client = KeychainClient(service: rooms.service)
                start.wait()
                let end: Refusal?
                do {
                    try call(client, number)
                    end = nil
                } catch { end = error as? Refusal ?? Refusal(.internalError) }
                ends.withLock { $0.append(end) }
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
        for _ in 0..<Self.clients { start.signal() }
        group.wait()
        return ends.withLock { $0 }
    }

    /// Does this for the account of a new item, which is added before with the value if there is one, and returns the account. If a halted
    /// machine left a call unanswered, its effect is unknown: all then begin again, at most twice, with another account.
    private func atOnce(
        _ rooms: Rooms, adding value: String?, _ call: @escaping @Sendable (KeychainClient, String, Int) throws -> Void
    ) throws -> (account: String, ends: [Refusal.Reason?]) {
        var attempts = 0
        while true {
            let account = UUID().uuidString
            if let value { try rooms.add("one", account, value) }
            let ends = atOnce(rooms) { client, number in try call(client, account, number) }
            attempts += 1
            if attempts == 3 || !ends.contains(where: { $0?.isUnanswered == true }) { return (account, ends.map { $0?.reason }) }
        }
    }

    @Test("All updates succeed, one deletion succeeds, and the others find nothing", .proves("C-017", "C-018"))
    func updatesAndDeletions() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let (account, updates) = try atOnce(rooms, adding: "0") { client, account, number in
            let changes = ItemChanges(attributes: ItemAttributes([.comment: .text("of \(number)")]))
            let value: SecretBytes? = secret("\(number)")
            for _ in 0..<5 { try client.update(Rooms.query("one", account), changes, secret: value) }
        }
        #expect(updates == Array(repeating: nil, count: Self.clients))
        let last = try #require(Int(try rooms.read("one", account)))
        #expect((0..<Self.clients).contains(last))
        let deletions = try atOnce(rooms, adding: "0") { client, account, _ in try client.delete(Rooms.query("one", account)) }.ends
        #expect(deletions.count { $0 == nil } == 1)
        #expect(deletions.count { $0 == .itemNotFound } == Self.clients - 1)
    }

    @Test("Of many concurrent adds of one item one succeeds, and the others are duplicates", .proves("C-010"))
    func additions() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let additions = try atOnce(rooms, adding: nil) { client, account, number in
            let record = ItemRecord(kind: .genericPassword, attributes: ItemAttributes([.service: .text("one"), .account: .text(account)]))
            let value: SecretBytes? = secret("\(number)")
            _ = try client.add(record, secret: value)
        }.ends
        #expect(additions.count { $0 == nil } == 1)
        #expect(additions.count { $0 == .duplicateItem } == Self.clients - 1)
    }
}
