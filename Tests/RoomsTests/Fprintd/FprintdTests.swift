// Fingerprints from the caller to the sensor and back: the command line, the rooms, the reader, and real fprintd with a virtual sensor.

import Foundation
import TestSupport
import Testing

/// The tests run one after the other: each has its own processes for the bus, polkit, fprintd and the rooms.
@Suite("Real fprintd", .serialized) struct FprintdTests {}

extension FprintdTests {
    @Suite struct Enrollment {
        @Test("Without fprintd there is no reader, and status and enrollment say so") func noFprintd() throws {
            let stage = try FprintdStage(hasFprintd: false)
            try stage.awaitStatus("no reader")
            let output = try stage.withPasscode("finger", "enroll")
            #expect(output.status == 53 && output.err.contains("No fingerprint reader is available; install fprintd"), "\(output)")
        }

        @Test("A wrong passcode enrolls nothing, and the sensor stays closed") func wrongPasscode() throws {
            let stage = try FprintdStage(isEnrolled: false)
            let list = try stage.withPasscode("finger", "list")
            #expect(list.status == 0 && list.err.contains("No fingers are enrolled"), "\(list)")
            let output = try stage.withPasscode("finger", "enroll", passcode: "another passcode")
            #expect(output.status == 51 && output.err.contains("the passcode is wrong"), "\(output)")
            #expect(!FileManager.default.fileExists(atPath: "\(stage.folder)/sensor"))
        }

        @Test("A finger is enrolled, and touches that must be made again are explained") func repeatedTouches() throws {
            let stage = try FprintdStage(isEnrolled: false)
            let touches = ["RETRY 1", "SCAN alice", "RETRY 3", "SCAN alice", "SCAN alice", "SCAN alice", "SCAN alice"]
            let output = try stage.enroll(touches: touches)
            for text in [
                "Touch it 5 times with the same finger.", "That was too short; swipe again (0 of 5 touches are done).",
                "1 of 5 touches are done.", "Take the finger away, then touch again (1 of 5 touches are done).", "4 of 5 touches are done.",
                "Enrolled. Your fingers: right index finger",
            ] {
                #expect(output.err.contains(text), "\(output)")
            }
            #expect(try stage.withPasscode("finger", "list").out == "right index finger\n")
            try stage.awaitStatus(FprintdStage.present)
        }

        @Test("A fingerprint unlocks if the user chose that") func unlocking() throws {
            let stage = try FprintdStage()
            // Another finger of the same user: the sensor is held by one at a time.
            #expect(try stage.enroll(["--unlock"]).err.contains("right index finger, left index finger"))
            try stage.vauban("lock")
            try stage.play(["unlock"], "expect Touch the fingerprint reader, or press Return\ntouch SCAN alice")
            try stage.awaitStatus("a finger was recognized")
        }

        @Test("Deleting a finger deletes it from fprintd too, and prompts take the passcode alone") func deletion() throws {
            let stage = try FprintdStage()
            #expect(try stage.withPasscode("finger", "delete").status == 0)
            let list = try stage.withPasscode("finger", "list")
            #expect(list.status == 0 && list.err.contains("No fingers are enrolled"), "\(list)")
            #expect(stage.templates.isEmpty)
            try stage.readByPasscode("absent Touch the fingerprint reader")
        }

        /// As shipped, user mode refuses items that only the current set of fingers opens.
        @Test("User mode refuses items for the current set of fingers") func currentSet() throws {
            let item = { (stage: FprintdStage) in
                try stage.run(["\(Rooms.programs)/keychain-caller", "fingers", "present", "x"]).ended().out
            }
            #expect(try item(FprintdStage()) == "0\n")
            #expect(try item(FprintdStage(enclaveArguments: ["--finger-sets", "by-mode"])) == "-4\n")
        }
    }
}
