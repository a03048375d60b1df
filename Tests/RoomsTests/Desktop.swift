import Foundation
import Glibc
import TestSupport
import Testing

/// A user at a desktop with the real sheet, played by `Tests/Scripts/lib/desktop.py`, which documents the steps.
final class Desktop {
    private let player = Process()
    private let steps = Pipe()
    private let told = Pipe()
    private var rest = ""

    struct TimeoutError: Error { let description: String }

    init(_ rooms: Rooms) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
        let sheet = "\(Rooms.programs)/vauban-sheet"
        guard access(sheet, X_OK) == 0 else { try Test.cancel("the sheet is not built here: there is no GTK 4") }
        for program in ["Xvfb", "xdotool", "import", "dbus-run-session"] where access("/usr/bin/\(program)", X_OK) != 0 {
            try Test.cancel("\(program) is not installed")
        }
        let shots = "\(root)/.build/test-results/sheet"
        try FileManager.default.createDirectory(atPath: shots, withIntermediateDirectories: true)
        player.executableURL = URL(fileURLWithPath: "\(root)/Tests/Scripts/lib/desktop.py")
        player.arguments = [sheet, shots]
        var environment = ProcessInfo.processInfo.environment
        environment["VAUBAN_HOME"] = rooms.home
        environment["XDG_RUNTIME_DIR"] = rooms.home
        player.environment = environment
        player.standardInput = steps
        player.standardOutput = told
        player.standardError = FileHandle.nullDevice
        BrokenPipe.endsNoTests()
        try player.run()
        try step("start")
    }

    /// Performs one step, and returns when it has succeeded, with the lines that it printed.
    @discardableResult
    func step(_ words: String) throws -> [String] {
        try steps.fileHandleForWriting.write(contentsOf: Data("\(words)\n".utf8))
        var others: [String] = []
        while true {
            while let end = rest.firstIndex(of: "\n") {
                let line = String(rest[..<end])
                rest = String(rest[rest.index(after: end)...])
                if line == "ok: \(words)" { return others }
                others.append(line)
            }
            let more = told.fileHandleForReading.availableData
            guard !more.isEmpty else { throw TimeoutError(description: "\(words)\n\(others.joined(separator: "\n"))\n\(rest)") }
            rest += String(decoding: more, as: UTF8.self)
        }
    }

    /// Ends the sheet and its display, as when the user leaves.
    func end() {
        try? steps.fileHandleForWriting.close()
        player.waitUntilExit()
    }
}
