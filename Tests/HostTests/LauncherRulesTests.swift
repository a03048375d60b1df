import Launcher
import TestSupport
import Testing

/// The parts of the launcher that need no process.
@Suite struct LauncherRulesTests {
    @Test("A room that ran for two seconds is restarted at once, however often") func roomThatFailsOnceIsRestartedAtOnce() {
        var policy = RestartPolicy()
        for _ in 0..<100 { #expect(policy.pause(afterRunning: 2_000_000_000) == 0) }
    }

    @Test("A room that keeps failing waits longer each time") func roomThatKeepsFailingWaitsLonger() {
        var policy = RestartPolicy()
        let milliseconds = (0..<12).map { _ in policy.pause(afterRunning: 1_000_000) / 1_000_000 }
        #expect(milliseconds == [0, 0, 0, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000])
    }

    @Test("A room that ran for a second resets the pause") func roomThatRanResetsThePause() {
        var policy = RestartPolicy()
        for _ in 0..<10 { _ = policy.pause(afterRunning: 0) }
        #expect(policy.pause(afterRunning: 1_000_000_000) == 0)
        #expect(policy.pause(afterRunning: 0) == 0)
    }

    @Test(
        "Invalid arguments of the launcher are refused",
        arguments: [
            [], ["--home", "/h"], ["--sockets", "/s"], ["--home", "h", "--sockets", "/s"], ["--home", "/h", "--sockets", "s"],
            ["--home", "/h", "--home", "/h", "--sockets", "/s"], ["--home", "/h", "--sockets", "/s", "--other", "x"],
            ["--home", "/h", "--sockets", "/s", "--ready-descriptor", "2"], ["--home", "/h", "--sockets", "/s", "--ready-descriptor"],
            ["--home", "/h", "--sockets", "/s", "--ready-descriptor", "three"],
        ])
    func invalidArgumentsAreRefused(_ words: [String]) {
        #expect(LauncherOptions(words) == nil)
    }

    @Test("Valid arguments of the launcher are parsed") func validArgumentsAreParsed() {
        let options = LauncherOptions(["--ready-descriptor", "3", "--sockets", "/s", "--home", "/h"])
        #expect(options?.home == "/h")
        #expect(options?.sockets == "/s")
        #expect(options?.readyDescriptor == 3)
        #expect(LauncherOptions(["--home", "/h", "--sockets", "/s"])?.readyDescriptor == .some(nil))
    }
}
