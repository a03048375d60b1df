import Logging
import Synchronization
import Testing
import VaubanRefusal
import VaubanRoomLog

@Suite struct BoundedLogTests {
    @Test(
        "A refusal is logged with its blame, and as a warning or error only if an administrator has to act",
        arguments: [
            (Refusal.Blame.caller, Logger.Level.notice), (.user, .notice), (.peer, .warning), (.disk, .error), (.machine, .error),
        ])
    func refusalIsLoggedAtTheLevelOfItsBlame(blame: Refusal.Blame, level: Logger.Level) throws {
        let reason = try #require(Refusal.Reason.allCases.first { $0.blame == blame })
        let recorder = RecordingLog()
        BoundedLog(Logger(label: "test") { _ in recorder }).refusal("refused", about: 1000, Refusal(reason))
        let line = try #require(recorder.lines.first)
        #expect(line.blame == "\(blame)" && line.level == level)
    }
}

/// Keeps the level and the blame of each line.
private final class RecordingLog: LogHandler {
    struct Line: Sendable {
        var level: Logger.Level
        var blame: String?
    }

    private let recorded = Mutex<[Line]>([])
    var lines: [Line] { recorded.withLock { $0 } }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .info }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        let line = Line(level: event.level, blame: event.metadata?["blame"].map { "\($0)" })
        recorded.withLock { $0.append(line) }
    }
}
