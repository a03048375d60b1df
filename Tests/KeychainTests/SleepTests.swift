import EnclaveWire
import Keychain
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanRefusal

/// Keys that were leased before the machine slept are requested again, since the enclave may be locked by then.
@Suite struct SleepTests {
    private let name: [AttributeName: AttributeValue] = [.account: .text("a"), .service: .text("s")]

    private func leases(_ room: Room) -> Int { room.enclave.state.withLock { $0.timesLeased } }

    @Test("After a sleep keychaind asks the enclave and does not use its leased keys") func leasedKeysAreNotUsedAfterASleep() throws {
        let room = try Room()
        try room.add(name, value: "v")
        let before = leases(room)
        // The enclave has locked, but its recall has not come yet: without the clock the leased keys would still be used.
        room.enclave.set { state in
            state.lock = .locked
            state.epoch += 1
        }
        #expect(try room.find(name, data: false).count == 1)
        room.slept.withLock { $0 += 1_000_000_001 }
        #expect(Refusal.Reason.of { _ = try room.find(name, data: false) } == .locked)
        #expect(leases(room) == before + 1)
        room.enclave.set { $0.lock = .unlocked }
        #expect(try room.find(name).first?.value == "v")
    }

    @Test("Without a sleep keychaind keeps its lease") func leaseIsKeptWithoutASleep() throws {
        let room = try Room()
        try room.add(name, value: "v")
        let before = leases(room)
        room.slept.withLock { $0 += 1_000_000_000 }
        #expect(try room.find(name).first?.value == "v")
        #expect(leases(room) == before)
        room.slept.withLock { $0 += 1 }
        #expect(try room.find(name).first?.value == "v")
        #expect(try room.find(name).first?.value == "v")
        #expect(leases(room) == before + 1)
    }

    @Test("After a sleep the leased keys of all users are dropped, once") func keysOfAllUsersAreDropped() throws {
        let room = try Room()
        try room.add(name, value: "v")
        let dropped = room.leasedKeys.drop(ifSleptSince: 2_000_000_000)
        #expect(dropped)
        for protection in ProtectionClass.allCases {
            #expect(room.leasedKeys.currentGeneration(of: .metadata(protection), user: Room.user) == nil)
        }
        let again = room.leasedKeys.drop(ifSleptSince: 9_000_000_000)
        #expect(!again)
    }
}
