import Dispatch
import EnclaveWire
import Keychain
import KeychainStore
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

@Suite struct LockTests {
    private let name: [AttributeName: AttributeValue] = [.account: .text("a"), .service: .text("s")]
    private let other: [AttributeName: AttributeValue] = [.account: .text("b"), .service: .text("s")]

    @Test("Each protection class opens in its lock states", arguments: ProtectionClass.allCases)
    func classOpensInItsLockStates(_ protection: ProtectionClass) throws {
        let room = try Room()
        try room.add(name, value: "v", protection)
        #expect(try room.find(name).first?.value == "v")
        room.enclave.lock(room.leasedKeys)
        let whileLocked = Refusal.Reason.of { _ = try room.find(name) }
        #expect(whileLocked == (protection.availability == .unlocked ? .locked : nil))
        #expect(Refusal.Reason.of { _ = try room.find(name, data: false) } == whileLocked)
        #expect(Refusal.Reason.of { try room.update(name, value: "w") } == whileLocked)
        #expect(Refusal.Reason.of { try room.add(name, value: "x", protection) } == (whileLocked ?? .duplicateItem))
        room.enclave.lock(room.leasedKeys, to: .beforeFirstUnlock)
        let beforeFirstUnlock = Refusal.Reason.of { _ = try room.find(name) }
        #expect(beforeFirstUnlock == (protection.availability == .always ? nil : .beforeFirstUnlock))
        #expect(Refusal.Reason.of { try room.add(other, protection) } == .beforeFirstUnlock)
        #expect(Refusal.Reason.of { try room.delete(name) } == .beforeFirstUnlock)
        #expect(Refusal.Reason.of { try room.update(name, to: [.account: .text("z")]) } == .beforeFirstUnlock)
        #expect(Refusal.Reason.of { try room.update(name, value: "u") } == beforeFirstUnlock)
        #expect(Refusal.Reason.of { _ = try room.find(other) } == .beforeFirstUnlock)
        room.enclave.set { $0.lock = .unlocked }
        #expect(
            try room.find(name).first?.value
                == (protection.availability == .always ? "u" : protection.availability == .firstUnlock ? "w" : "v"))
    }

    @Test("A locked item is refused as locked, and an absent one is not found") func lockedItemDiffersFromAbsentOne() throws {
        let room = try Room()
        try room.add(name)
        room.enclave.lock(room.leasedKeys)
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .locked)
        #expect(Refusal.Reason.of { _ = try room.find([.comment: .text("x")]) } == .itemNotFound)
        #expect(Refusal.Reason.of { _ = try room.find(other) } == .itemNotFound)
        #expect(Refusal.Reason.of { try room.add(name) } == .locked)
        #expect(Refusal.Reason.of { try room.add(name, .afterFirstUnlock) } == .duplicateItem)
        try room.add(other, .afterFirstUnlock)
        #expect(Refusal.Reason.of { _ = try room.find([.service: .text("s")], limit: .all) } == .locked)
        #expect(Refusal.Reason.of { try room.update([.service: .text("s")], value: "x") } == .locked)
        try room.delete(name)
        #expect(try room.find([.service: .text("s")], limit: .all).count == 1)
    }

    @Test("A locked item is named by its reference where its blinds decide that it has, or lacks, an attribute")
    func lockedItemIsNamedWhereBlindsDecide() throws {
        let room = try Room()
        let stored = SecretServiceAttributes(collection: "login", attributes: [SecretServiceAttributes.Pair("service", "s")])
        try room.add(name)
        try room.add([.account: .text("b"), .service: .text("s"), .secretServiceAttributes: .data(try stored.encoded())])
        let without: [AttributeName: AttributeValue] = [.service: .text("s"), .secretServiceAttributes: .data([])]
        let with: [AttributeName: AttributeValue] = [.secretServiceAttributes: .data(try stored.encoded())]
        let distinguished = SecretServiceAttributes(
            collection: "login", instance: [UInt8](repeating: 1, count: 8), attributes: stored.attributes)
        let nothing = SecretServiceAttributes(attributes: [])
        func count(_ attributes: [AttributeName: AttributeValue], returns: ReturnKinds = .reference) throws -> Int {
            try room.find(attributes, limit: .all) { query in
                query.returns = returns
                query.authenticationUI = .describe
            }.count
        }
        #expect(try count(without) == 1 && count(with) == 1)
        room.enclave.lock(room.leasedKeys)
        #expect(try count(without) == 1 && count(with) == 1)
        #expect(Refusal.Reason.of { _ = try count(without, returns: [.reference, .attributes]) } == .locked)
        // What no blind reveals: which of two items with equal attributes it is, and whether it has any of them.
        for undecided in [distinguished, nothing] {
            let attributes: [AttributeName: AttributeValue] = [.secretServiceAttributes: .data(try undecided.encoded())]
            #expect(Refusal.Reason.of { _ = try count(attributes) } == .locked)
            #expect(Refusal.Reason.of { try room.delete(attributes) } == .locked)
        }
        // A deletion does not look at what a row lacks.
        #expect(Refusal.Reason.of { try room.delete(without) } == .locked)
        try room.delete(name)
        #expect(Refusal.Reason.of { _ = try count(without) } == .itemNotFound)
        #expect(try count(with) == 1)
    }

    @Test("A list before the first unlock is complete or refused") func listBeforeFirstUnlockIsCompleteOrRefused() throws {
        let room = try Room()
        try room.add(name, .always)
        room.enclave.lock(room.leasedKeys, to: .beforeFirstUnlock)
        #expect(try room.find([:], limit: .all).count == 1)
        room.enclave.set { $0.lock = .unlocked }
        try room.add(other)
        room.enclave.lock(room.leasedKeys, to: .beforeFirstUnlock)
        #expect(Refusal.Reason.of { _ = try room.find([:], limit: .all) } == .beforeFirstUnlock)
        #expect(try room.find([:]).count == 1)
    }

    @Test("Items of an unknown class key are quarantined") func itemsOfUnknownClassKeyAreQuarantined() throws {
        let room = try Room()
        try room.add(name, .whenPasscodeSetThisDeviceOnly)
        room.enclave.set { $0.passcodeIsSet = false }
        room.leasedKeys.forget(Room.user)
        try room.enclave.renew(.metadata(.whenPasscodeSetThisDeviceOnly), forgettingOld: true)
        #expect(Refusal.Reason.of { try room.add(other, .whenPasscodeSetThisDeviceOnly) } == .passcodeNotSet)
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .itemNotFound)
        #expect(try room.rows().isEmpty)
        #expect(try room.database.quarantinedCount() == 1)
    }

    @Test("Adding over an item whose key is gone succeeds") func addingOverItemOfDestroyedKeySucceeds() throws {
        let room = try Room()
        try room.add(name, .whenPasscodeSetThisDeviceOnly)
        try room.enclave.renew(.metadata(.whenPasscodeSetThisDeviceOnly), forgettingOld: true)
        room.leasedKeys.forget(Room.user)
        try room.add(name, value: "new", .whenUnlocked)
        #expect(try room.find(name).first?.value == "new")
    }

    @Test("New rows use the current class key, and older keys still open theirs") func currentKeyWritesAndOlderKeysRead() throws {
        let room = try Room()
        try room.add(name, value: "old")
        try room.enclave.renew(.metadata(.whenUnlocked))
        // The cached lease is stale; the enclave reports that when it receives a request to seal.
        try room.add(other, value: "new")
        #expect(try room.find([.service: .text("s")], limit: .all).compactMap(\.value).sorted() == ["new", "old"])
        try room.update(name, to: [.label: .text("l")])
        #expect(Set(try room.rows().map(\.generation)).count == 1)
        #expect(try room.find([.label: .text("l")]).first?.value == "old")
    }

    @Test("Other index keys than those of the database are refused") func otherIndexKeysAreRefused() throws {
        let room = try Room()
        try room.add(name)
        try room.enclave.renew(.firstUnlockIndex, forgettingOld: true)
        try room.restart()
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .stateUnreadable)
        #expect(Refusal.Reason.of { try room.add(name) } == .stateUnreadable)
    }

    // MARK: Leases

    private func install(_ room: Room) throws {
        let leased = try room.enclave.lease()
        let isOfUse = room.leasedKeys.install(leased, slept: 0)
        #expect(isOfUse)
    }

    @Test("One lease serves many requests") func leaseServesManyRequests() throws {
        let room = try Room()
        for number in 0..<5 { try room.add([.account: .text("\(number)")]) }
        #expect(try room.find([.account: .text("3")]).count == 1)
        #expect(room.enclave.state.withLock { $0.timesLeased } == 1)
    }

    @Test("A lease of a recalled epoch has no when-unlocked keys") func leaseOfRecalledEpochHasNoClassAKeys() throws {
        let room = try Room()
        let stale = try room.enclave.lease()
        room.enclave.lock(room.leasedKeys)
        let isOfUse = room.leasedKeys.install(stale, slept: 0)
        #expect(!isOfUse)
        #expect(room.leasedKeys.currentGeneration(of: .metadata(.whenUnlocked), user: Room.user) == nil)
        #expect(room.leasedKeys.currentGeneration(of: .metadata(.always), user: Room.user) != nil)
        try install(room)
    }

    @Test("A lease ends with its standing connection") func leaseEndsWithItsStandingConnection() throws {
        let room = try Room()
        let leased = try room.enclave.lease()
        let before = room.leasedKeys.install(leased, slept: 0)
        room.leasedKeys.standingConnectionEnded()
        #expect(room.leasedKeys.currentGeneration(of: .deviceIndex, user: Room.user) == nil)
        let meanwhile = room.leasedKeys.install(leased, slept: 0)
        #expect(room.leasedKeys.standing(within: 1000) == nil)
        let next = room.leasedKeys.standingConnectionBegan()
        let after = room.leasedKeys.install(leased, slept: 0)
        #expect(before && !meanwhile && !after)
        #expect(room.leasedKeys.standing(within: 1000) == next)
    }

    /// A key that is recalled between the lease and its use is leased again, and a request that always comes too late is refused as locked.
    @Test("While the keychain locks, requests succeed or are refused as locked")
    func requestsWhileTheDeviceLocksSucceedOrAreRefusedAsLocked() throws {
        let room = try Room()
        try room.add(name)
        let (enclave, leasedKeys) = (room.enclave, room.leasedKeys)
        let isOver = Mutex(false)
        let hasEnded = DispatchSemaphore(value: 0)
        try HostThread.start {
            while !isOver.withLock({ $0 }) {
                enclave.lock(leasedKeys)
                enclave.set { $0.lock = .unlocked }
            }
            hasEnded.signal()
        }
        var reasons: Set<Refusal.Reason?> = []
        // Repeated until both outcomes have occurred.
        for count in 1...100_000 where count <= 2000 || reasons.count < 2 {
            reasons.insert(Refusal.Reason.of { _ = try room.find(name) })
        }
        isOver.withLock { $0 = true }
        hasEnded.wait()
        #expect(reasons == [nil, .locked], "\(reasons)")
    }

    @Test("A recall affects one user") func recallAffectsOneUser() throws {
        let room = try Room()
        try install(room)
        room.leasedKeys.recall(LeaseRecall(user: Room.user + 1, epoch: 99, everything: true))
        #expect(room.leasedKeys.currentGeneration(of: .metadata(.whenUnlocked), user: Room.user) != nil)
        room.leasedKeys.recall(LeaseRecall(user: Room.user, epoch: 1, everything: true))
        #expect(room.leasedKeys.currentGeneration(of: .deviceIndex, user: Room.user) == nil)
    }
}
