import Dispatch
import Enclave
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanRefusal
import VaubanUserModel

/// Parallel guesses gain nothing over sequential ones, and a delay begins only after a passcode that was compared and wrong.
@Suite struct ParallelGuessTests {
    private let bench = Workbench()

    /// Tries all of them in parallel; returns the refusal of each.
    private func tryInParallel(_ passcodes: [String], in vault: Vault) -> [Refusal.Reason?] {
        let answers = Mutex([Refusal.Reason?](repeating: nil, count: passcodes.count))
        DispatchQueue.concurrentPerform(iterations: passcodes.count) { index in
            let reason = refusal { try vault.unlock(secret(passcodes[index])) }?.reason
            answers.withLock { $0[index] = reason }
        }
        return answers.withLock { $0 }
    }

    @Test("Seven correct passcodes at the same moment all unlock and use up no attempt")
    func sevenRightPasscodesAtOnce() throws {
        for _ in 1...20 {
            _ = try bench.startProtected()
            let vault = bench.start()
            #expect(tryInParallel(.init(repeating: Workbench.passcode, count: 7), in: vault).allSatisfy { $0 == nil })
            #expect(vault.status.attemptsLeft == 5 && vault.status.secondsToWait == 0 && vault.status.lock == .unlocked)
            #expect(try bench.attempts().failures == 0)
            bench.store.files = [:]
        }
    }

    @Test("Four wrong passcodes beside three correct ones cause no delay")
    func fourWrongBesideThreeRight() throws {
        for _ in 1...20 {
            let vault = try bench.startProtected()
            let passcodes = ["wrong 1", Workbench.passcode, "wrong 2", Workbench.passcode, "wrong 3", Workbench.passcode, "wrong 4"]
            let answers = tryInParallel(passcodes, in: vault)
            for (passcode, answer) in zip(passcodes, answers) {
                #expect(answer == (passcode == Workbench.passcode ? nil : .authenticationFailed))
            }
            bench.store.files = [:]
        }
    }

    /// Hostile parallelism: an enclave that is killed and restarted while the clock stands still compares as many passcodes as five
    /// sequential attempts do.
    @Test("Parallel wrong passcodes are compared no more often than sequential ones, even across kills")
    func parallelAttemptsAcrossKills() throws {
        _ = try bench.startProtected()
        bench.journal.clear()
        for round in 0..<30 {
            // The enclave is killed after this many writes: nothing more reaches its disk.
            let vault = bench.start()
            bench.store.fail(.attempts, with: .failed("killed"), after: round % 4)
            _ = tryInParallel((1...7).map { "wrong \($0)" }, in: vault)
            bench.store.fail(.attempts, with: nil)
            let compared = bench.journal.events.count { $0 == .tangled }
            #expect(compared <= 5)
            #expect(try bench.attempts().failures == Int64(compared))
        }
        #expect(bench.journal.events.count { $0 == .tangled } == 5)
        #expect(bench.start().status.secondsToWait == 60)
    }

    /// Whenever the machine stops, the record on disk has every attempt that was compared by then, and at most one more.
    @Test("A crash between recording and comparing an attempt costs that attempt only")
    func crashCostsOneAttempt() throws {
        let store = SnapshotStore(bench.store)
        let host = EnclaveHost(
            backend: bench.device, store: store, clock: bench.clock,
            stretcher: PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)))
        let vault = Vault(user: Workbench.user, host: host)
        try vault.setPasscode(secret(Workbench.passcode))
        store.clear()
        _ = tryInParallel(
            ["wrong 1", "wrong 2", Workbench.passcode, "wrong 3", Workbench.passcode, "wrong 4", Workbench.passcode], in: vault)
        let snapshots = store.snapshots
        #expect(snapshots.count == 7 + 3)
        var wrongInARow: Int64 = 0
        for (index, snapshot) in snapshots.enumerated() {
            let crashed = Workbench(files: snapshot)
            let status = crashed.start().status
            let failures = try crashed.attempts().failures
            // Only a correct passcode resets the count to zero.
            #expect(failures == 0 || failures == wrongInARow + 1, "write \(index)")
            #expect(status.secondsToWait == DelayProfile.rolling.delay(afterFailures: failures))
            wrongInARow = failures
        }
        // Correct passcodes that arrive in parallel and are cut off at the first count lose one attempt, not seven. The wrong ones above
        // may have come last.
        store.clear()
        let before = try bench.attempts().failures
        _ = tryInParallel(.init(repeating: Workbench.passcode, count: 7), in: vault)
        for snapshot in store.snapshots { #expect(try Workbench(files: snapshot).attempts().failures <= before + 1) }
    }

    /// The count remains, since it is unknown whether the passcode was compared; the next attempt is not delayed because of it.
    @Test("An attempt that a power cut may undo is counted without a delay")
    func uncertainCountCausesNoDelay() throws {
        let vault = try bench.startProtected()
        bench.store.fail(.attempts, with: .unsure("the folder does not sync"))
        for _ in 1...6 { #expect(refusal { try vault.unlock(secret("wrong one")) }?.reason == .storageFailed) }
        bench.store.fail(.attempts, with: nil)
        #expect(vault.status.secondsToWait == 0)
        try vault.unlock(secret(Workbench.passcode))
        #expect(vault.status.attemptsLeft == 5)
    }
}

/// Keeps the content of the disk after each write of the record of attempts.
private final class SnapshotStore: StateStore {
    private let inner: MemoryStore
    private let list = Mutex<[[String: [UInt8]]]>([])

    init(_ inner: MemoryStore) { self.inner = inner }

    var snapshots: [[String: [UInt8]]] { list.withLock { $0 } }
    func clear() { list.withLock { $0 = [] } }

    func read(_ name: StateName, of user: UInt32, max: Int) throws(StateError) -> [UInt8]? { try inner.read(name, of: user, max: max) }
    func quarantine(_ name: StateName, of user: UInt32) throws(StateError) -> String { try inner.quarantine(name, of: user) }
    func quarantined(_ name: StateName, of user: UInt32) throws(StateError) -> [String] { try inner.quarantined(name, of: user) }

    func replace(_ name: StateName, of user: UInt32, with bytes: [UInt8]) throws(StateError) {
        try inner.replace(name, of: user, with: bytes)
        if name == .attempts { list.withLock { $0.append(inner.files) } }
    }
}
