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

@Suite("One item of many", .serialized)
struct OneItemTests {
    private static let clients = 40

    /// Runs a call for every client concurrently, each on its own connection, and returns how they ended.
    private func atOnce(_ rooms: Rooms, _ call: @escaping @Sendable (KeychainClient, Int) throws -> Void) -> [Refusal.Reason?] {
        let ends = Mutex<[Refusal.Reason?]>([])
        let start = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        for number in 0..<Self.clients {
            group.enter()
            let thread = Thread {
                defer { group.leave() }
                let client = KeychainClient(service: rooms.service)
                start.wait()
                let end: Refusal.Reason?
                do {
                    try call(client, number)
                    end = nil
                } catch { end = (error as? Refusal)?.reason ?? .internalError }
                ends.withLock { $0.append(end) }
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
        for _ in 0..<Self.clients { start.signal() }
        group.wait()
        return ends.withLock { $0 }
    }

    @Test("All updates succeed, one deletion succeeds, and the others find nothing", .proves("C-017", "C-018"))
    func updatesAndDeletions() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("one", "item", "0")
        let updates = atOnce(rooms) { client, number in
            let changes = ItemChanges(attributes: ItemAttributes([.comment: .text("of \(number)")]))
            let value: SecretBytes? = secret("\(number)")
            for _ in 0..<5 { try client.update(Rooms.query("one", "item"), changes, secret: value) }
        }
        #expect(updates == Array(repeating: nil, count: Self.clients))
        let last = try #require(Int(try rooms.read("one", "item")))
        #expect((0..<Self.clients).contains(last))
        let deletions = atOnce(rooms) { client, _ in try client.delete(Rooms.query("one", "item")) }
        #expect(deletions.count { $0 == nil } == 1)
        #expect(deletions.count { $0 == .itemNotFound } == Self.clients - 1)
    }

    @Test("Of many concurrent adds of one item one succeeds, and the others are duplicates", .proves("C-010"))
    func additions() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let additions = atOnce(rooms) { client, number in
            let record = ItemRecord(kind: .genericPassword, attributes: ItemAttributes([.service: .text("new"), .account: .text("item")]))
            let value: SecretBytes? = secret("\(number)")
            _ = try client.add(record, secret: value)
        }
        #expect(additions.count { $0 == nil } == 1)
        #expect(additions.count { $0 == .duplicateItem } == Self.clients - 1)
    }
}
