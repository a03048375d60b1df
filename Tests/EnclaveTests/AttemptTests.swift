import Dispatch
import Enclave
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Invariant 4: an attempt is counted durably before it is compared, and the count is never reduced without a correct passcode.
@Suite struct AttemptTests {
    private let bench = Workbench()

    @discardableResult
    private func guessWrong(_ vault: Vault) -> Refusal? { refusal { _ = try vault.authenticate(secret("wrong one")) } }

    @Test("An attempt is counted on disk before the comparison") func attemptIsCountedOnDiskBeforeTheComparison() throws {
        let vault = try bench.startProtected()
        bench.journal.clear()
        guessWrong(vault)
        #expect(bench.journal.events == [.wrote(.attempts), .tangled])
        #expect(try bench.attempts().failures == 1)
        bench.journal.clear()
        _ = try vault.authenticate(secret(Workbench.passcode))
        #expect(bench.journal.events == [.wrote(.attempts), .tangled, .wrote(.attempts)])
        #expect(try bench.attempts().failures == 0)
    }

    @Test("An attempt that cannot be counted is not compared", arguments: [StateError.full, .failed("broken")])
    func attemptThatCannotBeCountedIsNotCompared(_ fault: StateError) throws {
        _ = try bench.startProtected()
        let vault = bench.start()
        bench.store.fail(.attempts, with: fault)
        bench.journal.clear()
        let answer = refusal { try vault.unlock(secret(Workbench.passcode)) }
        let expected: Refusal.Reason = if case .full = fault { .storageFull } else { .storageFailed }
        #expect(answer?.reason == expected)
        #expect(bench.journal.events == [.failed(.attempts)])
        #expect(vault.status.lock == .beforeFirstUnlock && vault.status.attemptsLeft == 5)
        bench.store.fail(.attempts, with: nil)
        try vault.unlock(secret(Workbench.passcode))
    }

    /// The unlock succeeds, and a restart is stricter, never more lenient.
    @Test("A correct attempt stays counted on disk if its success cannot be written") func successThatCannotBeWrittenStaysCounted() throws {
        let vault = try bench.startProtected()
        guessWrong(vault)
        bench.store.fail(.attempts, with: .full, after: 1)
        try vault.unlock(secret(Workbench.passcode))
        #expect(vault.status.attemptsLeft == 5)
        #expect(try bench.attempts().failures == 2)
        #expect(bench.start().status.attemptsLeft == 3)
    }

    static let delays: [(failures: Int64, seconds: Int64)] = [
        (0, 0), (1, 0), (4, 0), (5, 60), (6, 300), (7, 900), (8, 1800), (9, 3600), (10, 3600), (11, 3600), (1_000_000, 3600),
    ]

    @Test("The delays are those of the table", arguments: delays) func theDelaysAreThoseOfTheTable(_ failures: Int64, _ seconds: Int64) {
        #expect(DelayProfile.rolling.delay(afterFailures: failures) == seconds)
        #expect(DelayProfile.rolling.attemptsLeft(afterFailures: failures) == max(0, 5 - failures))
    }

    @Test("During a delay even the right passcode is refused, and not counted")
    func aDelayRefusesEvenTheRightPasscodeAndDoesNotCountIt() throws {
        let vault = try bench.startProtected()
        for _ in 1...4 { guessWrong(vault) }
        for seconds in [60, 300, 900, 1800, 3600, 3600, 3600] as [Int64] {
            #expect(guessWrong(vault)?.secondsToWait == seconds)
            bench.journal.clear()
            bench.clock.advance(seconds: UInt64(seconds) - 1)
            for step in [{ try vault.unlock(secret(Workbench.passcode)) }, { try vault.checkPasscodeCanBeTried() }] {
                let answer = refusal(step)
                #expect(answer?.reason == .lockedOut && answer?.secondsToWait == 1 && answer?.attemptsLeft == 0)
            }
            #expect(bench.journal.events.isEmpty)
            #expect(vault.status.secondsToWait == 1 && vault.status.attemptsLeft == 0)
            bench.clock.advance(seconds: 1)
            #expect(vault.status.secondsToWait == 0 && vault.status.attemptsLeft == 1)
        }
        try vault.unlock(secret(Workbench.passcode))
        #expect(vault.status.attemptsLeft == 5)
        #expect(try bench.attempts().failures == 0)
    }

    @Test("A restart starts the current delay again") func aRestartStartsTheCurrentDelayAgain() throws {
        let vault = try bench.startProtected()
        for _ in 1...5 { guessWrong(vault) }
        bench.clock.advance(seconds: 59)
        let restarted = bench.start()
        #expect(restarted.status.secondsToWait == 60 && restarted.status.attemptsLeft == 0)
        bench.clock.advance(seconds: 60)
        #expect(guessWrong(restarted)?.secondsToWait == 300)
        // This holds even if the machine restarts and its clock begins at zero.
        bench.clock.reboot()
        #expect(bench.start().status.secondsToWait == 300)
    }

    @Test("The wall clock does not affect delays") func wallClockDoesNotAffectDelays() throws {
        let vault = try bench.startProtected()
        for _ in 1...5 { guessWrong(vault) }
        for wall in [Int64.max / 2, 0, Int64.min / 2] {
            bench.clock.setWall(microseconds: wall)
            #expect(vault.status.secondsToWait == 60 && bench.start().status.secondsToWait == 60)
        }
    }

    /// Parallel attempts are not cheaper than sequential ones.
    @Test("Parallel attempts are all counted") func parallelAttemptsAreAllCounted() throws {
        let vault = try bench.startProtected()
        let answers = Mutex<[Refusal.Reason?]>([])
        DispatchQueue.concurrentPerform(iterations: 24) { _ in
            let answer = guessWrong(vault)?.reason
            answers.withLock { $0.append(answer) }
        }
        let reasons = answers.withLock { $0 }
        #expect(reasons.count { $0 == .authenticationFailed } == 5)
        // Attempts that found the queue full were not counted either.
        #expect(reasons.count { $0 == .lockedOut || $0 == .unavailable } == 19)
        #expect(try bench.attempts().failures == 5)
        #expect(bench.journal.events.count { $0 == .tangled } == 1 + 5)
    }

    @Test("Deleting the record of attempts causes the longest delay") func deletedRecordCausesTheLongestDelay() throws {
        let vault = try bench.startProtected()
        for _ in 1...5 { guessWrong(vault) }
        bench.store.files["1000/attempts"] = nil
        let restarted = bench.start(), status = restarted.status
        // A lost record does not permit an erasure without attempts either.
        #expect(refusal { try restarted.eraseWith(nil) }?.reason == .authenticationFailed)
        #expect(status.secondsToWait == 3600 && status.warnings == ["the record of failed passcodes is missing; the longest delay applies"])
    }

    @Test("An unreadable record is quarantined, and the longest delay applies")
    func unreadableRecordIsQuarantinedAndTheLongestDelayApplies() throws {
        _ = try bench.startProtected()
        let good = try #require(bench.store.files["1000/attempts"])
        var altered = good
        altered[good.count - 40] ^= 1
        for (index, bad) in [altered, Array(good.dropLast()), good + [0], []].enumerated() {
            bench.store.files["1000/attempts"] = bad
            let vault = bench.start()
            let aside = "attempts.quarantined-\(index + 1)"
            #expect(vault.status.secondsToWait == 3600 && vault.status.attemptsLeft == 0)
            #expect(vault.status.warnings.contains { $0.contains(aside) })
            #expect(bench.store.files["1000/\(aside)"] == bad && bench.store.files["1000/attempts"] == nil)
            #expect(refusal { try vault.unlock(secret(Workbench.passcode)) }?.reason == .lockedOut)
        }
        // After the delay, the passcode opens as before.
        let vault = bench.start()
        bench.clock.advance(seconds: 3600)
        try vault.unlock(secret(Workbench.passcode))
        #expect(bench.start().status.secondsToWait == 0)
    }

    /// Without a passcode there is nothing to attempt, so nothing is delayed.
    @Test("Without a passcode a lost record is ignored") func lostRecordIsIgnoredWithoutAPasscode() throws {
        _ = try bench.start().lease()
        bench.store.files["1000/attempts"] = nil
        #expect(bench.start().status.secondsToWait == 0 && bench.start().status.warnings.isEmpty)
        bench.store.files["1000/attempts"] = [1]
        let vault = bench.start()
        #expect(vault.status.secondsToWait == 0)
        #expect(vault.status.warnings == ["the record of failed passcodes cannot be read and was set aside as attempts.quarantined-1"])
        try vault.setPasscode(secret(Workbench.passcode))
        #expect(bench.start().status.warnings.isEmpty && bench.start().status.attemptsLeft == 5)
    }

    @Test("A record of another keybag or user does not count") func aRecordOfAnotherKeybagOrUserDoesNotCount() throws {
        _ = try bench.startProtected()
        try bench.put(AttemptRecord(keybag: [UInt8](repeating: 9, count: 16)), as: .attempts)
        #expect(bench.start().status.secondsToWait == 3600)
        #expect(bench.start().status.warnings.count == 1)

        _ = try bench.start(2).setPasscode(secret(Workbench.passcode))
        bench.store.files["1000/attempts"] = bench.store.files["2/attempts"]
        #expect(bench.start().status.secondsToWait == 3600)
    }
}
