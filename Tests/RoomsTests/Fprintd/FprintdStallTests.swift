import Foundation
import Glibc
import TestSupport
import Testing

extension FprintdTests {
    @Suite struct Stall {
        /// A rule can keep polkit busy for longer than the reader waits. fprintd then carries out the claim after the reader has given up.
        @Test("Fingerprints match again after fprintd answered too late") func lateReply() throws {
            let stage = try FprintdStage()
            let fprintd = try stage.fprintd()
            let (notice, log) = ("fprintd did not answer in time", "\(stage.rooms.home)/vauban.log")
            let earlier = try String(contentsOfFile: log, encoding: .utf8).components(separatedBy: notice).count - 1
            #expect(kill(fprintd, SIGSTOP) == 0)
            defer { kill(fprintd, SIGCONT) }
            // A prompt that is cancelled before the reader has called fprintd makes no call that could be answered too late.
            let hasNotice = "[ $(grep -c '\(notice)' \(log)) -gt \(earlier) ]"
            try stage.read("expect Touch the fingerprint reader\nrun until \(hasNotice); do :; done\nkey ctrl-c", endsWith: 128)
            #expect(kill(fprintd, SIGCONT) == 0)
            try stage.readByFinger()
            #expect(kill(fprintd, 0) == 0, "fprintd did not live through it")
        }
    }
}
