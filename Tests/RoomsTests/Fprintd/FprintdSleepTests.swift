import Foundation
import Glibc
import TestSupport
import Testing

extension FprintdTests {
    /// The machine sleeps only when fprintd permits it, as with a real login manager. fprintd runs once in each test: a claim that is
    /// released while the machine sleeps would make it refuse the sensor from then on.
    @Suite struct Sleep {
        private let stage: FprintdStage
        private let fprintd: pid_t

        init() throws {
            stage = try FprintdStage()
            fprintd = try stage.fprintd()
        }

        private func expectThatAFingerMatches(sourceLocation: SourceLocation = #_sourceLocation) throws {
            try stage.readByFinger(sourceLocation: sourceLocation)
            #expect(kill(fprintd, 0) == 0, "fprintd did not live through it", sourceLocation: sourceLocation)
        }

        @Test("A prompt continues with the passcode while the machine sleeps, and fingerprints match after it wakes")
        func duringAPrompt() throws {
            try stage.readByPasscode(
                "expect Touch the fingerprint reader\nrun echo sleep >'\(stage.folder)/bus/in'",
                after: "run timeout 240 grep -q -m 1 '^released' <'\(stage.folder)/bus/out'")
            try stage.wakeUp()
            try expectThatAFingerMatches()
        }

        @Test("Fingerprints match after the machine slept several times without a prompt") func whileIdle() throws {
            for _ in 1...3 {
                try stage.putToSleep()
                try stage.wakeUp()
            }
            try expectThatAFingerMatches()
        }

        @Test("Sleep ends an enrollment in progress, and the earlier fingers match") func whileEnrolling() throws {
            let finger = try stage.touching(["SCAN alice", "SCAN alice"])
            let enrollment = try stage.enrolling()
            #expect(try finger.ended().status == 0)
            try stage.bus.perform("tell_logind sleep")
            #expect(try enrollment.ended().status == 53)
            try stage.bus.perform("expect_logind released")
            try stage.wakeUp()
            try expectThatAFingerMatches()
        }

        /// The reader's report about the sensor is then too late.
        @Test("Fingerprints match after a sleep that began between the end of a prompt and the reply of fprintd")
        func afterThePrompt() throws {
            try stage.bus.perform("monitor \"member='VerifyStop'\" \"member='PrepareForSleep'\"")
            try stage.read("expect Touch the fingerprint reader\nwanted\nrun kill -STOP \(fprintd)\nkey ctrl-c", endsWith: 128)
            try stage.bus.perform("await_line monitored VerifyStop")
            try stage.bus.perform("tell_logind sleep")
            try stage.bus.perform("await_line monitored PrepareForSleep")
            kill(fprintd, SIGCONT)
            try stage.bus.perform("expect_logind released")
            try stage.wakeUp()
            try expectThatAFingerMatches()
        }

        @Test("The reader accepts notices of sleep from the login manager alone") func forgedSleep() throws {
            try stage.bus.perform("tell_logind \"forge \(try stage.reader())\"")
            try stage.bus.perform("expect_logind forged")
            try expectThatAFingerMatches()
        }

        /// There is no notice that the machine is awake until fprintd receives it from the next login manager.
        @Test("If the login manager ends while the machine sleeps, the reader continues with the next one")
        func lostLoginManager() throws {
            try stage.putToSleep()
            try stage.awaitStatus(FprintdStage.missing)
            try stage.bus.perform("stop_logind")
            try stage.awaitStatus(FprintdStage.present)
            try stage.bus.perform("start_logind \(geteuid())")
            try stage.bus.perform("tell_logind wake")
            try stage.bus.perform("expect_logind 'inhibit sleep net.reactivated.Fprint delay'")
            try expectThatAFingerMatches()
        }

        /// Another program releases the sensor while the machine sleeps, and fprintd refuses it to every program until it ends.
        @Test("A reader waits for the end of an fprintd that refuses the sensor, and uses the next one") func refusingFprintd() throws {
            try stage.bus.perform("stop_fprintd")
            try stage.awaitStatus(FprintdStage.missing)
            try stage.bus.perform("start_fprintd_by_bus")
            try stage.bus.perform("hold")
            try stage.putToSleep()
            try stage.bus.perform("release")
            try stage.bus.perform("await_line fprintd.log 'Error closing device after disconnect'")
            try stage.wakeUp()
            let refusing = try stage.bus.perform("cat \"$TMPDIR/fprintd.pid\"")
            try stage.readByPasscode("expect Touch the fingerprint reader")
            // It exits by itself, since no program uses it.
            try stage.bus.perform("timeout $hang_seconds tail -s 0.02 --pid=\(refusing) -f /dev/null")
            try stage.awaitStatus(FprintdStage.present)
            try stage.readByFinger()
            try stage.bus.perform("stop_fprintd_by_bus")
        }
    }
}
