import Dispatch
import Enclave
import EnclaveWire
import Foundation
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Who attempted, which passcodes are accepted, and what an attempt costs.
@Suite struct GuessTests {
    private let bench = Workbench()

    private func guess(_ vault: Vault, by who: String, at date: Int64 = 0) {
        #expect(refusal { _ = try vault.authenticate(secret("wrong one")) }?.reason == .authenticationFailed)
        vault.record(FailedAttempt(date: date, purpose: .unlock, who: who))
    }

    @Test("Failed attempts are listed newest first until a correct passcode clears them")
    func wrongAttemptsAreListedNewestFirstUntilASuccess() throws {
        let vault = try bench.startProtected()
        guess(vault, by: "/usr/bin/first", at: 1)
        guess(vault, by: "/usr/bin/second", at: 2)
        let expected = [
            FailedAttempt(date: 2, purpose: .unlock, who: "/usr/bin/second"),
            FailedAttempt(date: 1, purpose: .unlock, who: "/usr/bin/first"),
        ]
        for same in [vault, bench.start()] {
            #expect(same.status.failedAttempts == expected && same.status.attemptsLeft == 3)
            #expect(try DeviceStatus(derBytes: same.status.encoded()) == same.status)
        }
        #expect(try bench.attempts().failures == 2)
        try vault.unlock(secret(Workbench.passcode))
        #expect(vault.status.failedAttempts.isEmpty && bench.start().status.failedAttempts.isEmpty)
        // A report that arrives after the correct passcode is discarded.
        vault.record(FailedAttempt(date: 3, purpose: .unlock, who: "/usr/bin/late"))
        #expect(vault.status.failedAttempts.isEmpty)
    }

    @Test("The list of failed attempts is bounded and never affects the count") func attemptListIsBoundedAndKeepsTheCount() throws {
        let vault = try bench.startProtected()
        for number in 1...14 {
            guess(vault, by: "/\(number)" + String(repeating: "ä", count: 300), at: Int64(number))
            bench.clock.advance(seconds: 3600)
        }
        #expect(vault.status.failedAttempts.map(\.date) == (5...14).reversed())
        #expect(try bench.attempts().encoded().count < EnclaveLimits.attemptRecordBytesMax && bench.attempts().failures == 14)
        // If it cannot be written, the count that was written before remains.
        bench.store.fail(.attempts, with: .full, after: 1)
        guess(vault, by: "/unwritten", at: 99)
        #expect(bench.start().status.failedAttempts.first?.date == 14)
        #expect(try bench.attempts().failures == 15)
    }

    /// A deviation from Apple, since the count is written before anything is compared.
    @Test("The same wrong passcode counts again") func theSameWrongPasscodeCountsAgain() throws {
        let vault = try bench.startProtected()
        for left in [4, 3, 2, 1, 0] as [Int64] {
            #expect(refusal { _ = try vault.authenticate(secret("the same one")) }?.attemptsLeft == left)
        }
        #expect(vault.status.secondsToWait == 60)
    }

    @Test(
        "Obvious passcodes are refused", arguments: ["aaaaaa", "121212", "123456", "fedcba", "abc123", "password", "Qwerty12", "letmein!"])
    func obviousPasscodesAreRefused(_ passcode: String) throws {
        let vault = bench.start()
        #expect(refusal { try vault.setPasscode(secret(passcode)) }?.reason == .passcodeTooWeak)
        #expect(bench.store.files.isEmpty || !vault.status.passcodeIsSet)
        try vault.setPasscode(Workbench.passcode, recovery: EveryUse.recoveryBytes)
        #expect(refusal { try vault.changePasscode(from: secret(Workbench.passcode), to: secret(passcode)) }?.reason == .passcodeTooWeak)
        #expect(
            refusal { try vault.recover(with: EveryUse.recoveryKey, to: secret(passcode), newRecoveryKey: nil) }?.reason == .passcodeTooWeak
        )
        #expect(try vault.status.attemptsLeft == 5 && bench.attempts().failures == 0)
    }

    // MARK: Calibration

    /// A clock that advances by a given time at each reading, so that a derivation seems to take that long.
    private final class SlowClock: EnclaveClock {
        private let now = Mutex<UInt64>(1_000_000_000)
        private let step: UInt64
        init(step: UInt64) { self.step = step }
        var boot: UInt64 { now.withLock { $0 } }
        var monotonic: UInt64 {
            now.withLock { now in
                now += step; return now
            }
        }
        var referenceMicroseconds: Int64 { 0 }
    }

    private func vault(step: UInt64) -> Vault {
        let cost = StretchCost(log2Rounds: 4, blockSizeMin: 2, time: 100_000_000)
        return Vault(
            user: Workbench.user,
            host: EnclaveHost(backend: bench.device, store: bench.store, clock: SlowClock(step: step), stretcher: PasscodeStretcher(cost)))
    }

    @Test("The cost of a passcode is measured, stored and never lowered") func aPasscodesCostIsMeasuredKeptAndNeverLowered() throws {
        let fast = vault(step: 20_000_000)
        try fast.setPasscode(secret(Workbench.passcode))
        #expect(try bench.keybag().passcode?.blockSize == 10 && bench.keybag().passcode?.log2Rounds == 4)
        // A slower moment, or a slower machine, makes no later guess cheaper.
        let slow = vault(step: 500_000_000)
        try slow.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
        #expect(try bench.keybag().passcode?.blockSize == 10)
        let faster = vault(step: 5_000_000)
        try faster.changePasscode(from: secret(Workbench.otherPasscode), to: secret(Workbench.passcode))
        // Beyond a block size of 16, the number of passes grows.
        #expect(try bench.keybag().passcode?.blockSize == 16 && bench.keybag().passcode?.parallelism == 2)
        try bench.start().unlock(secret(Workbench.passcode))
    }

    /// One user's waiting derivations do not fill the enclave's socket.
    @Test("A user can queue only a few derivations") func queueOfDerivationsPerUserIsShort() throws {
        let cost = StretchCost(log2Rounds: 14, blockSizeMin: 8)
        let vault = Vault(
            user: Workbench.user,
            host: EnclaveHost(backend: bench.device, store: bench.store, clock: bench.clock, stretcher: PasscodeStretcher(cost)))
        _ = try vault.lease()
        let row = try bench.row(.always, .applicationPassword)
        let answers = Mutex<[Refusal.Reason?]>([])
        let group = DispatchGroup()
        for _ in 0..<32 {
            group.enter()
            Thread.detachNewThread {
                let reason = refusal { _ = try vault.seal(row, password: secret("an application's own")) }?.reason
                answers.withLock { $0.append(reason) }
                group.leave()
            }
        }
        #expect(group.wait(timeout: .now() + HangLimit.seconds) == .success)
        let reasons = answers.withLock { $0 }
        // Application passwords take at most half of the places, so that a passcode finds one.
        #expect(reasons.count { $0 == nil } >= EnclaveLimits.derivationsWaitingMax / 2)
        #expect(reasons.contains(.unavailable) && reasons.allSatisfy { $0 == nil || $0 == .unavailable })
        // The places are released.
        _ = try vault.seal(row, password: secret("an application's own"))
    }

    @Test("Without a target time the cost is the lowest one") func costIsTheLowestWithoutATargetTime() throws {
        let parameters = try PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 3)).parameters(
            salt: [UInt8](repeating: 0, count: 32)
        ) { 0 }
        #expect(parameters.blockSize == 3 && parameters.log2Rounds == 4)
    }
}
