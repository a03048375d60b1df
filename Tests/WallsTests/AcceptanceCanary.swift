// The canary of the acceptance machinery: tests that must fail, and rows of a separate table (K-…) that must come out open. They run only
// when Tests/Scripts/acceptance-canary.sh requests them, never in the main run and never in the table of C-rows.

import Foundation
import TestSupport
import Testing

private let mode = ProcessInfo.processInfo.environment["VAUBAN_ACCEPTANCE_CANARY"]

@Suite(.enabled(if: mode == "1"))
struct AcceptanceCanary {
    @Test("A passing test proves its row", .proves("K-001"))
    func passes() { #expect(Bool(true)) }

    @Test("A failing test leaves its rows open", .proves("K-002", "K-003"))
    func fails() { #expect(Bool(false), "this canary must fail") }

    /// K-003 has a passing and a failing claim: the failing one decides.
    @Test("A passing test beside a failing one does not prove their row", .proves("K-003"), .provesEquivalent("K-004"))
    func passesBesideAFailure() { #expect(Bool(true)) }

    @Test("A test that throws leaves its row open", .proves("K-005"))
    func throwsAnError() throws { throw CanaryFault() }

    @Test("A disabled test leaves its row open", .proves("K-006"), .disabled("a test that does not run proves nothing"))
    func isDisabled() {}

    /// A test without arguments never runs, and yet other report formats call it a success.
    @Test("A test without arguments leaves its row open", .proves("K-007"), arguments: [Int]())
    func hasNoArguments(_ argument: Int) { #expect(argument == 0) }

    @Test("A known issue leaves its row open", .proves("K-008"))
    func hasAKnownIssue() { withKnownIssue("a known issue proves nothing") { #expect(Bool(false)) } }

    @Test("A cancelled test leaves its row open", .proves("K-009"))
    func isCancelled() throws { try Test.cancel("could not run here") }

    /// One failing argument is enough. All of them write to the claims file at the same time as the tests above.
    @Test("A test that fails for one argument leaves its row open", .proves("K-010"), arguments: 1...20)
    func failsForOneArgument(_ argument: Int) { #expect(argument != 13, "this canary must fail") }
}

/// A process that exits early with status 0 makes `swift test` report success. The machinery must not.
@Suite(.enabled(if: mode == "exit"), .serialized)
struct AcceptanceCanaryExit {
    @Test("A process that exits early proves nothing", .proves("K-001"))
    func leavesEarly() { exit(0) }

    @Test("A test after an early exit leaves its row open", .proves("K-002"))
    func wouldComeLater() {}
}

private struct CanaryFault: Error {}
