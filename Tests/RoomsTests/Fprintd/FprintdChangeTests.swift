import Foundation
import Glibc
import TestSupport
import Testing

extension FprintdTests {
    /// Every change that Vauban did not make itself ends the enrollment.
    @Suite struct Changes {
        private let stage: FprintdStage
        private let me: String

        init() throws {
            stage = try FprintdStage()
            me = try stage.bus.perform("id -un")
        }

        private func expectThatTheEnrollmentEnds(sourceLocation: SourceLocation = #_sourceLocation) throws {
            try stage.awaitStatus("was changed without Vauban", sourceLocation: sourceLocation)
            try stage.awaitStatus("no finger enrolled", sourceLocation: sourceLocation)
        }

        @Test("A finger that another program enrolls, even under a known name, ends the enrollment", .proves("C-147"))
        func enrolledByAnother() throws {
            try stage.bus.perform("\"$TMPDIR/bus/finger\" enroll \(me) right-index-finger 'SCAN mallory'")
            try expectThatTheEnrollmentEnds()
            try stage.readByPasscode("absent Touch the fingerprint reader")
        }

        @Test("Fingers that another program deletes end the enrollment", .proves("C-147")) func deletedByAnother() throws {
            try stage.bus.perform("\"$TMPDIR/bus/finger\" delete \(me)")
            try stage.readByPasscode()
            try expectThatTheEnrollmentEnds()
        }

        @Test("A reader that lost its state opens nothing, and the enrollment ends", .proves("C-147")) func lostState() throws {
            let reader = try stage.reader()
            try FileManager.default.removeItem(atPath: "\(stage.rooms.home)/reader/enrollments")
            try stage.rooms.killAndAwait("vauban-reader", reader)
            try stage.awaitStatus(FprintdStage.present)
            try stage.readByPasscode("expect Touch the fingerprint reader\ntouch SCAN alice")
            try expectThatTheEnrollmentEnds()
        }

        @Test("A reader with a key that is not the enclave's is refused and paired again") func foreignKey() throws {
            let key = "\(stage.rooms.home)/reader/pairing"
            #expect(try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int == 0o600)
            try Data(count: 32).write(to: URL(fileURLWithPath: key))
            try stage.rooms.killAndAwait("vauban-reader")
            try stage.awaitStatus(FprintdStage.present)
            // The first message ends the connection, and the reader pairs anew.
            try stage.read("expect Touch the fingerprint reader\ntouch SCAN alice\nexpect Passcode (\nkey ctrl-c", endsWith: 128)
            try stage.awaitStatus(FprintdStage.present)
            try stage.readByFinger()
        }
    }
}
