import Foundation
import Glibc
import TestSupport
import Testing

extension FprintdTests {
    /// The machine sleeps when fprintd lets it, as at a real login manager, and not before. fprintd has one life in each test: a claim that
    /// is given back while the machine sleeps would have it refuse the sensor for the rest of that.
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

        @Test("While the machine sleeps a prompt continues with the passcode, and then fingers match again") func whileAsking() throws {
            try stage.readByPasscode(
                "expect Touch the fingerprint reader\nrun echo sleep >'\(stage.folder)/bus/in'",
                after: "run timeout 240 grep -q -m 1 '^released' <'\(stage.folder)/bus/out'")
            try stage.wakeUp()
            try expectThatAFingerMatches()
        }

        @Test("The machine sleeps again and again while nothing is asked, and then fingers match") func whileIdle() throws {
            for _ in 1...3 {
                try stage.putToSleep()
                try stage.wakeUp()
            }
            try expectThatAFingerMatches()
        }

        @Test("Sleep ends an enrollment, and the earlier fingers match") func whileEnrolling() throws {
            let finger = try stage.touching(["SCAN alice", "SCAN alice"])
            let enrollment = try stage.enrolling()
            #expect(try finger.ended().status == 0)
            try stage.bus.perform("tell_logind sleep")
            #expect(try enrollment.ended().status == 51)
            try stage.bus.perform("expect_logind released")
            try stage.wakeUp()
            try expectThatAFingerMatches()
        }

        /// What the reader says of the sensor comes too late then.
        @Test("The machine sleeps after a prompt ended and before fprintd has answered") func afterThePrompt() throws {
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

        @Test("Only the login manager is believed about sleep") func forgedSleep() throws {
            try stage.bus.perform("tell_logind \"forge \(try stage.reader())\"")
            try stage.bus.perform("expect_logind forged")
            try expectThatAFingerMatches()
        }

        /// Nobody says any more that the machine is awake, until fprintd hears it of the next login manager.
        @Test("A login manager that goes while the machine sleeps leaves the reader, and the next one wakes it")
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

        /// Another program gives the sensor back while the machine sleeps, and fprintd refuses it to everybody until it ends.
        @Test("A reader lets an fprintd that refuses the sensor end, and uses the next one") func refusingFprintd() throws {
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
            // It ends by itself, since nobody needs it.
            try stage.bus.perform("timeout $hang_seconds tail -s 0.02 --pid=\(refusing) -f /dev/null")
            try stage.awaitStatus(FprintdStage.present)
            try stage.readByFinger()
            try stage.bus.perform("stop_fprintd_by_bus")
        }
    }
}
