import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanLinuxHost
import VaubanUserModel
import VaubanUserWire

/// The output of `vauban status` about wrong attempts, recovery keys, fingers and older keys, for each reply of the enclave.
@Suite struct StatusOnTerminalTests {
    private func status(_ change: (inout DeviceStatus) -> Void) throws -> String {
        var device = DeviceStatus(
            lock: .unlocked, cause: .fingerMatched, since: 0, passcodeIsSet: true, attemptsLeft: 3, secondsToWait: 0, warnings: [])
        change(&device)
        let told = device
        let room = try RoomFixture { _, channel, _ in try channel.send(header: EnclaveReply.user(.status(told)).encoded()) }
        let (status, shown) = try PlayedTerminal(before: room.address, ["status"], steps: "").ended()
        #expect(status == 0)
        return shown.replacing("\r\n", with: "\n")
    }

    @Test("The status on a terminal names the callers of wrong attempts") func statusNamesCallersOfWrongAttempts() throws {
        let shown = try status {
            $0.failedAttempts = [
                FailedAttempt(date: 600_000_000_000_000, purpose: .unlock, who: "/usr/bin/vauban"),
                FailedAttempt(date: 500_000_000_000_000, purpose: .prompt, who: "/tmp/a\nb\u{1B}[2J"),
            ]
        }
        #expect(shown.contains("\nAttempts     wrong on 2020-01-0"))
        #expect(shown.contains(", to unlock: /usr/bin/vauban\n             wrong on 2016-11-0"))
        // The name of another process cannot control the terminal.
        #expect(shown.contains(", to answer a prompt: /tmp/a\\u{a}b\\u{1b}[2J\n"))
    }

    @Test("The status shows the recovery key and its use") func statusShowsTheRecoveryKeyAndItsUse() throws {
        #expect(try status { $0.recoveryKeyIsSet = true }.contains("\nRecovery key set\n"))
        #expect(
            try status { ($0.recoveryKeyIsSet, $0.earlierRecoveryKeyWorks) = (true, true) }
                .contains("\nRecovery key set; an earlier one works too, since the new one was not confirmed; if you have it: "))
        let used = try status { ($0.recoveryKeyIsSet, $0.recovered) = (true, 600_000_000_000_000) }
        #expect(used.contains("\nRecovery key set; one was used on 2020-01-0"))
        #expect(
            try status { _ in }.contains(
                "\nRecovery key none: if you forget the passcode, everything is lost; to create one: vauban passcode recovery-key\n"))
    }

    @Test("The status shows when the keychain locks") func statusShowsWhenTheKeychainLocks() throws {
        #expect(try status { _ in }.contains("\nLocks        when the machine sleeps\n"))
        let settings = LockSettings(graceSeconds: 90, idleSeconds: 7200, locksWithScreen: true)
        let told = "\nLocks        when the machine sleeps or the screen is locked, 90 seconds later; after 2 hours without use\n"
        #expect(try status { $0.settings = settings }.contains(told))
    }

    @Test("The status warns if sleep is not announced") func statusWarnsIfSleepIsNotAnnounced() throws {
        let told = "\n             this system does not announce sleep or the screen lock: keys stay in memory while the machine sleeps"
        #expect(try status { $0.sleepIsAnnounced = false }.contains("\nLocks        when the machine sleeps" + told))
        #expect(try !status { $0.sleepIsAnnounced = true }.contains("announce sleep"))
    }

    @Test("The status shows what fingerprints can do") func statusShowsWhatFingerprintsCanDo() throws {
        func shown(there: Bool, enrolled: Bool, ready: Bool, unlocks: Bool) throws -> String {
            try status {
                $0.biometry = DeviceStatus.Biometry(
                    readerIsPresent: there, isEnrolled: enrolled, isReady: ready, unlocks: unlocks, missesLeft: 4)
            }
        }
        #expect(try shown(there: false, enrolled: false, ready: false, unlocks: false).contains("\nFingers      no reader\n"))
        #expect(
            try shown(there: true, enrolled: false, ready: false, unlocks: false).contains(
                "\nFingers      reader available; no finger enrolled\n"))
        #expect(
            try shown(there: false, enrolled: true, ready: false, unlocks: false).contains(
                "\nFingers      enrolled, but the reader is missing; not accepted until the passcode is entered"))
        let cost =
            """
            \n             a finger unlocks the keychain after the first unlock: while locked, its keys stay in memory, encrypted with a \
            key that only the reader has\n
            """
        let ready = try shown(there: true, enrolled: true, ready: true, unlocks: true)
        #expect(ready.contains("\nFingers      enrolled; 4 more may fail before the passcode is required\n"))
        #expect(ready.contains(cost))
        #expect(try !shown(there: true, enrolled: true, ready: true, unlocks: false).contains(cost))
    }

    @Test("The status shows that items use older keys") func statusShowsOlderKeys() throws {
        #expect(
            try status { $0.hasOlderKeys = true }.contains(
                "\nKeys         some items still use older keys; run: vauban passcode roll\n"))
        #expect(try !status { _ in }.contains("older keys"))
    }
}
