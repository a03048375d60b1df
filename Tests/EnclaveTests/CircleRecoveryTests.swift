// Joining by the recovery key inside the enclave: which device joins, what the key can do before and after, and what a carrier, a removed
// device and a thief of the written-down key can do (Specs/sync.md, "Joining by the recovery key").

import Enclave
import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

@Suite("Joining a circle by its recovery key")
struct CircleRecoveryTests {
    private typealias Device = CircleTests.Device

    /// A recovery key, as the user has it, and the statement that made it.
    private struct Made {
        let key: CircleRecoveryKey
        let statement: [UInt8]
    }

    private func reason(_ body: () throws -> Void) -> Refusal.Reason? { refusal(body)?.reason }

    private func member() throws -> Device {
        let member = try Device()
        try member.perform(.begin(name: "desk"))
        return member
    }

    private func make(_ member: Device) throws -> Made {
        let key = try unconfirmed(member)
        return Made(key: key, statement: try confirm(key, on: member))
    }

    private func unconfirmed(_ member: Device) throws -> CircleRecoveryKey {
        try #require(try member.vault.circle(.makeRecoveryKey, isApproved: true).recoveryKey)
    }

    private func confirm(_ key: CircleRecoveryKey, on member: Device) throws -> [UInt8] {
        try #require(try member.vault.circle(.confirmRecoveryKey, isApproved: false, recoveryKey: key).reply.document)
    }

    private func find(_ statement: [UInt8], _ key: CircleRecoveryKey, on device: Device) throws -> CircleRecovery {
        let secret: SecretBytes? = key.bytes.duplicate()
        return try #require(
            try device.vault.circle(.findByRecoveryKey(statement: statement), isApproved: false, secret: secret).recovering)
    }

    private func follow(_ statement: [UInt8], _ found: CircleRecovery, on device: Device) throws -> CircleRecovery {
        let outcome = try device.vault.circle(.followByRecoveryKey(statement: statement), isApproved: false, recovering: found)
        return try #require(outcome.recovering)
    }

    /// Enters with the user's approval, and returns the statement.
    private func enter(_ found: CircleRecovery, on device: Device) throws -> [UInt8] {
        try #require(
            try device.vault.circle(.enterByRecoveryKey(name: "new"), isApproved: true, recovering: found).reply.document)
    }

    /// A second member.
    private func joined(_ member: Device, companion: Bool = false) throws -> (Device, statement: [UInt8]) {
        let device = try Device()
        let answer = try member.document(.answer(commitment: try device.document(.apply(name: "laptop"))))
        let revealed = try device.perform(.reveal(answer: answer))
        let (reveal, code) = (try #require(revealed.document), try #require(revealed.code))
        let approved = try member.perform(
            companion ? .admitCompanion(reveal: reveal, code: code, .empty, shown: "") : .approve(reveal: reveal, code: code))
        let statement = try #require(approved.document)
        try device.perform(.enter(statement: statement, code: try #require(approved.code)))
        return (device, statement)
    }

    private func sealed(by device: Device) throws -> (row: RowBinding, wrapped: [UInt8]) {
        let lease = try device.vault.lease().lease
        let generation = try #require(lease.keys.first { $0.purpose == .metadata(.whenUnlocked) }?.generation)
        let row = RowBinding(
            user: device.vault.user, protection: .whenUnlocked, generation: generation, item: [UInt8](repeating: 1, count: 16),
            version: [UInt8](repeating: 2, count: 16), kind: 1, accessGroup: "mail", accessControl: nil)
        let given = try device.vault.sealForCircle(row, wrapped: try device.vault.seal(row).wrapped, in: device.open())
        return (row, given.wrapped)
    }

    @Test("With the key and the statements alone, a new device joins once, reads shared items, and is seen by all others")
    func joins() throws {
        let member = try member()
        let item = try sealed(by: member)
        #expect(reason { _ = try member.vault.circle(.makeRecoveryKey, isApproved: false) } == .cancelled)
        let made = try make(member)
        #expect(try member.view.hasRecoveryKey && member.view.epoch == 1 && member.view.members.count == 1)
        let (laptop, admitted) = try joined(member)
        #expect(try laptop.view.hasRecoveryKey)

        let new = try Device()
        let found = try follow(admitted, try find(made.statement, made.key, on: new), on: new)
        #expect(found.names == ["desk", "laptop"])
        #expect(
            reason { _ = try new.vault.circle(.enterByRecoveryKey(name: "new"), isApproved: false, recovering: found) } == .cancelled)
        #expect(reason { _ = try new.vault.circle(.enterByRecoveryKey(name: "new"), isApproved: true) } == .unavailable)
        let statement = try enter(found, on: new)
        let view = try new.view
        #expect(view.members.map(\.name) == ["desk", "laptop", "new"] && view.epoch == 2 && !view.hasRecoveryKey)
        #expect(view.recovered == [view.device])
        _ = try new.vault.circleItemKeys(item.row, wrapped: item.wrapped, epoch: 1, in: new.open())
        // The statement may not have reached the folder, so it is returned again, even after a restart.
        let restarted = new.bench.start()
        try restarted.unlock(secret(Workbench.passcode))
        #expect(try restarted.circle(.view, isApproved: false).reply.document == statement)

        for other in [member, laptop] {
            try other.perform(.follow(statement: statement))
            let seen = try other.view
            #expect(seen.members == view.members && seen.recovered == [view.device] && !seen.hasRecoveryKey && seen.epoch == 2)
        }
        let later = try sealed(by: member)
        _ = try new.vault.circleItemKeys(later.row, wrapped: later.wrapped, epoch: 2, in: new.open())
        // The key is void: no device can join by it again.
        let thief = try Device()
        let again = try follow(admitted, try find(made.statement, made.key, on: thief), on: thief)
        #expect(reason { _ = try follow(statement, again, on: thief) } == .notAllowedHere)
        #expect(reason { _ = try find(statement, made.key, on: thief) } == .itemNotFound)
        // A removed device is no longer listed as joined by the recovery key.
        let removal = try member.document(.remove(device: view.device))
        try laptop.perform(.follow(statement: removal))
        #expect(try laptop.view.recovered.isEmpty && member.view.epoch == 3)
    }

    @Test("Until the user has seen a recovery key, nothing of it is stored, and an earlier one stays valid") func unseenKey() throws {
        let member = try member()
        let first = try make(member)
        let (before, files) = (try member.perform(.view), member.bench.store.files)
        let made = try member.vault.circle(.makeRecoveryKey, isApproved: true)
        let key = try #require(made.recoveryKey)
        #expect(made.reply.document == nil && made.reply.view == before.view)
        #expect(try member.perform(.view) == before && member.bench.store.files == files && before.document == first.statement)
        #expect(reason { _ = try member.vault.circle(.confirmRecoveryKey, isApproved: true) } == .unavailable)
        try member.vault.lock()
        #expect(reason { _ = try confirm(key, on: member) } == .locked)
        try member.vault.unlock(secret(Workbench.passcode))
        // What could not be stored is not there, and a reply that was lost is repeated.
        member.bench.store.fail(.circle, with: .full)
        #expect(reason { _ = try confirm(key, on: member) } == .storageFull)
        member.bench.store.fail(.circle, with: nil)
        #expect(try member.perform(.view) == before)
        let found = try find(first.statement, first.key, on: try Device())
        let statement = try confirm(key, on: member)
        #expect(try confirm(key, on: member) == statement && member.document(.view) == statement && member.view.epoch == 2)
        let new = try Device()
        #expect(reason { _ = try follow(statement, found, on: new) } == .notAllowedHere)
        try member.perform(.follow(statement: try enter(try find(statement, key, on: new), on: new)))
        #expect(try member.view.members.map(\.name) == ["desk", "new"])
    }

    @Test("A wrong key, another circle's key, a replaced key and a removed key open nothing new") func wrongKeys() throws {
        let (member, other, new) = (try member(), try member(), try Device())
        let (made, foreign) = (try make(member), try make(other))
        #expect(reason { _ = try find(made.statement, foreign.key, on: new) } == .itemNotFound)
        #expect(reason { _ = try find(try other.document(.view), made.key, on: new) } == .itemNotFound)
        #expect(reason { _ = try find([1, 2, 3], made.key, on: new) } == .badParameter)
        #expect(reason { _ = try new.vault.circle(.findByRecoveryKey(statement: made.statement), isApproved: false) } == .badParameter)
        let replaced = try make(member)
        #expect(try member.view.epoch == 2)
        #expect(reason { _ = try find(replaced.statement, made.key, on: new) } == .itemNotFound)
        #expect(reason { _ = try follow(replaced.statement, try find(made.statement, made.key, on: new), on: new) } == .notAllowedHere)
        let found = try find(replaced.statement, replaced.key, on: new)
        let ended = try member.document(.endRecoveryKey)
        #expect(try !member.view.hasRecoveryKey && member.view.epoch == 3)
        #expect(reason { _ = try follow(ended, found, on: new) } == .notAllowedHere)
        #expect(reason { try member.perform(.endRecoveryKey) } == .badParameter)
        // If the statement that ends the key is withheld, joining makes a fork that no device follows.
        let fork = try enter(found, on: new)
        #expect(reason { try member.perform(.follow(statement: fork)) } == .badParameter)
        // A device that is in a circle, or waits to join one, cannot join another.
        #expect(reason { _ = try find(made.statement, made.key, on: new) } == .badParameter)
        let waiting = try Device()
        try waiting.perform(.apply(name: "phone"))
        #expect(reason { _ = try find(made.statement, made.key, on: waiting) } == .badParameter)
    }

    @Test("An altered statement that makes a recovery key is neither found by the key nor followed") func altered() throws {
        let member = try member()
        let (laptop, _) = try joined(member)
        let made = try make(member)
        let before = try laptop.view
        for place in stride(from: 8, to: made.statement.count, by: 211) {
            var altered = made.statement
            altered[place] ^= 1
            #expect(refusal { _ = try find(altered, made.key, on: try Device()) } != nil)
            #expect(refusal { try laptop.perform(.follow(statement: altered)) } != nil)
        }
        #expect(try laptop.view == before)
        try laptop.perform(.follow(statement: made.statement))
        #expect(try laptop.view.hasRecoveryKey)
    }

    @Test("A removed device cannot make a recovery key for the others, and no key that it knew opens later items")
    func removedDevice() throws {
        let member = try member()
        let (laptop, _) = try joined(member)
        let (thief, admitted) = try joined(member)
        try laptop.perform(.follow(statement: admitted))
        let made = try make(member)
        for other in [laptop, thief] { try other.perform(.follow(statement: made.statement)) }
        let removal = try member.document(.remove(device: try thief.view.device))
        try laptop.perform(.follow(statement: removal))
        // Its statements from then on are forks, including one that makes a recovery key.
        let forged = try make(thief)
        #expect(reason { try laptop.perform(.follow(statement: forged.statement)) } == .badParameter)
        // The new device follows the removal, and gets a circle key that the thief does not have.
        let new = try Device()
        let found = try follow(removal, try find(made.statement, made.key, on: new), on: new)
        #expect(found.names == ["desk", "laptop"])
        let statement = try enter(found, on: new)
        #expect(reason { try thief.perform(.follow(statement: statement)) } == .badParameter)
        try laptop.perform(.follow(statement: statement))
        let item = try sealed(by: laptop)
        #expect(reason { _ = try thief.vault.circleItemKeys(item.row, wrapped: item.wrapped, epoch: 1, in: thief.open()) } == .rowDamaged)
        // The thief's own statement is not found by the written-down key, which the thief does not have.
        #expect(reason { _ = try find(forged.statement, made.key, on: try Device()) } == .itemNotFound)
    }

    @Test("The prompt lists a removed device whose removal is hidden; once a new key is made, the removal cannot be hidden")
    func hiddenRemoval() throws {
        let member = try member()
        let (thief, _) = try joined(member)
        let first = try make(member)
        let removal = try member.document(.remove(device: try thief.view.device))
        let second = try make(member)
        let new = try Device()
        #expect(try find(first.statement, first.key, on: new).names == ["desk", "laptop"])
        #expect(try find(second.statement, second.key, on: new).names == ["desk"])
        #expect(reason { _ = try find(removal, second.key, on: new) } == .itemNotFound)
    }

    @Test("A companion follows statements that make, use and replace a recovery key, and never receives one") func companions() throws {
        let member = try member()
        let (companion, _) = try joined(member, companion: true)
        #expect(reason { try companion.perform(.makeRecoveryKey) } == .notAllowedHere)
        let made = try make(member)
        try companion.perform(.follow(statement: made.statement))
        let new = try Device()
        let statement = try enter(try find(made.statement, made.key, on: new), on: new)
        try companion.perform(.follow(statement: statement))
        let view = try companion.view
        #expect(view.members.map(\.name) == ["desk", "new"] && view.epoch == 2 && view.isCompanion && !view.hasRecoveryKey)
        try member.perform(.follow(statement: statement))
        #expect(try new.view.companions == member.view.companions && member.view.companions.count == 1)
        let again = try make(new)
        for other in [member, companion] { try other.perform(.follow(statement: again.statement)) }
        // A companion that joins later also sees that there is a key.
        let (late, admitted) = try joined(member, companion: true)
        for other in [new, companion] { try other.perform(.follow(statement: admitted)) }
        #expect(try late.view.isCompanion)
        let last = try Device()
        let entered = try enter(try follow(admitted, try find(again.statement, again.key, on: last), on: last), on: last)
        for other in [member, new, companion, late] { try other.perform(.follow(statement: entered)) }
        #expect(try late.view.members.map(\.name) == ["desk", "new", "new"])
    }

    @Test("A recovery key reserves one of the ten places, so that a device can always join with it")
    func recoveryKeyReservesAPlace() throws {
        let member = try member()
        let made = try make(member)
        var statements: [[UInt8]] = []
        for _ in 0..<8 { statements.append(try joined(member).statement) }
        #expect(try member.view.members.count == 9)
        #expect(reason { _ = try joined(member) } == .unsupported)
        let new = try Device()
        var found = try find(made.statement, made.key, on: new)
        for statement in statements { found = try follow(statement, found, on: new) }
        try member.perform(.follow(statement: try enter(found, on: new)))
        #expect(try member.view.members.count == 10)
        #expect(reason { _ = try make(member) } == .unsupported)
    }

    @Test("A device that is locked or has no passcode cannot join by a recovery key") func needsPasscode() throws {
        let made = try make(try member())
        let locked = try Device()
        try locked.vault.lock()
        #expect(reason { _ = try find(made.statement, made.key, on: locked) } == .locked)
        let key: SecretBytes? = made.key.bytes.duplicate()
        let bare = Workbench().start()
        #expect(
            reason { _ = try bare.circle(.findByRecoveryKey(statement: made.statement), isApproved: false, secret: key) }
                == .passcodeNotSet)
    }
}
