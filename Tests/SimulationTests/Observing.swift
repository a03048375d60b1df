import Enclave
import EnclaveWire
import SimulatedHost
import VaubanAccessPolicy
import VaubanUserModel

// What can be observed of a world without changing it: on a copy of the enclave and of the model, over a copy of the disk.

extension World {
    /// Compares the status and the leased keys; then, if requested, every row with all evidence that a user can present.
    func observe(rows readsRows: Bool) throws {
        try look { world, vault, _ in
            let status = vault.status
            return { tape in
                try world.model.applyExpirations(&tape, isUse: false)
                try world.compare(status)
            }
        }
        guard model.bag != nil || model.lock == .unreadable && stored.bag != nil else { return }
        try look { world, vault, _ in
            let lent = try vault.lease().lease
            return { tape in
                try world.model.lease(&tape)
                try world.compare(lent)
            }
        }
        guard readsRows, !rows.isEmpty else { return }
        let arguments = Arguments(model, stored)
        try look { world, vault, machine in
            var answers = Answers()
            try Doing(vault: vault, machine: machine, arguments: arguments, rows: rows, held: nil, number: 0).read(
                OperationEvidence(), &answers)
            return { tape in
                try world.model.applyExpirations(&tape)
                try world.expectRead(answers, PresentedEvidence())
            }
        }
        for operation in [Operation.ask, .showFinger] {
            try look { world, vault, machine in
                let doing = Doing(vault: vault, machine: machine, arguments: arguments, rows: rows, held: nil, number: 0)
                let answers = try doing.perform(operation)
                return { tape in try world.expect(operation, arguments: arguments, answers: answers, tape: &tape) }
            }
        }
    }

    private final class Copy {
        var model: EnclaveModel {
            get { world.model }
            set { world.model = newValue }
        }
        var world: World
        init(_ world: World) { self.world = world }
        func compare(_ status: DeviceStatus) throws { try world.compare(status) }
        func compare(_ lease: KeyLease) throws { try world.compare(lease) }
        func expectRead(_ answers: Answers, _ shown: PresentedEvidence) throws { try world.expectRead(answers, shown) }
        func expect(_ operation: Operation, arguments: Arguments, answers: Answers, tape: inout Tape) throws {
            try world.expect(operation, arguments: arguments, answers: answers, tape: &tape)
        }
    }

    private func look(_ body: (Copy, Vault, Machine) throws -> (inout Tape) throws -> Void) throws {
        let machine = machine()
        let copy = Copy(self)
        let compare = try body(copy, Vault(copying: vault, host: machine.host), machine)
        var tape = Tape(machine.log.events, from: stored)
        try compare(&tape)
        try tape.throwIfNotAtItsEnd()
    }

    func compare(_ status: DeviceStatus) throws {
        func same<Value: Equatable>(_ what: String, _ seen: Value, as expected: Value) throws {
            guard seen == expected else { throw Difference("status, \(what): \(seen), in the model \(expected)") }
        }
        let bag = model.bag
        try same("lock", status.lock, as: model.lock)
        try same("cause", status.cause, as: model.cause)
        try same("since", status.since, as: model.since)
        try same("passcode is set", status.passcodeIsSet, as: bag?.passcode != nil)
        try same("seconds to wait", status.secondsToWait, as: model.wait)
        try same("attempts left", status.attemptsLeft, as: model.wait > 0 ? 0 : max(5 - (model.record?.failures ?? 0), 1))
        try same("wrong guesses", status.failedAttempts.count, as: model.record?.guesses ?? 0)
        try same("recovery key is set", status.recoveryKeyIsSet, as: bag?.recovery != nil)
        try same("earlier recovery key works", status.earlierRecoveryKeyWorks, as: bag?.earlierRecovery != nil)
        try same("recovered", status.recovered, as: bag?.recovered)
        try same("settings", status.settings, as: bag?.settings ?? .standard)
        let older = KeyPurpose.classes.contains { purpose in (bag?.slots ?? []).count { $0.purpose == purpose } > 1 }
        try same("has older keys", status.hasOlderKeys, as: older)
        try same("warnings", status.warnings.count, as: model.warnings)
        try same("reader is there", status.biometry.readerIsPresent, as: model.readerIsPresent)
        try same("is enrolled", status.biometry.isEnrolled, as: bag?.enrollment != nil)
        try same("is ready", status.biometry.isReady, as: model.fingerRefusal == nil)
        try same("unlocks", status.biometry.unlocks, as: bag?.enrollment != nil)
        try same("misses left", status.biometry.missesLeft, as: model.armed == nil ? 0 : Int64(5 - model.misses))
    }

    /// Compares a lease with the open keys, all of which it has; a locked enclave leases no class-A keys.
    private func compare(_ lease: KeyLease) throws {
        let expected = model.openKeys.map { names[$0] }
        guard lease.keys.map(\.generation) == expected, lease.lock == model.lock, lease.epoch == model.epoch else {
            throw Difference("\(lease.keys.count) keys are lent in epoch \(lease.epoch); in the model \(expected.count) in \(model.epoch)")
        }
    }
}
