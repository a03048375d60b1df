import Glibc
import TestSupport
import Testing

extension FprintdTests {
    @Suite struct Stall {
        /// A rule can keep polkit busy for longer than the reader waits. fprintd then carries out the claim after the reader has given up.
        @Test("Fingerprints match again after fprintd answered too late") func lateReply() throws {
            let stage = try FprintdStage()
            let fprintd = try stage.fprintd()
            #expect(kill(fprintd, SIGSTOP) == 0)
            defer { kill(fprintd, SIGCONT) }
            try stage.read("expect Touch the fingerprint reader\nkey ctrl-c", endsWith: 128)
            let notice = "fprintd did not answer in time"
            try awaitTrue(notice) { stage.log.contains(notice) }
            #expect(kill(fprintd, SIGCONT) == 0)
            try stage.readByFinger()
            #expect(kill(fprintd, 0) == 0, "fprintd did not live through it")
        }
    }
}
