import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost

/// A message bus with polkit, a played login manager and, once it is started, fprintd with a virtual sensor. The commands are those of
/// `Tests/Scripts/lib/fprintd-stage.sh`.
final class FprintdBus {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    let folder: String
    var address: String { "unix:path=\(folder)/bus/socket" }
    private let player = Process()
    private let steps = Pipe()
    private let told = Pipe()
    private var rest = ""

    struct StepError: Error, CustomStringConvertible { let description: String }

    init() throws {
        var template = Array("\(NSTemporaryDirectory())/vauban-fprintd-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw SystemError("make a temporary folder", code: errno) }
        folder = String(cString: made)
        player.executableURL = URL(fileURLWithPath: "\(Self.root)/Tests/Scripts/lib/fprintd-stage.sh")
        player.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder]) { $1 }
        player.standardInput = steps
        player.standardOutput = told
        BrokenPipe.endsNoTests()
        try player.run()
        do { try answer(to: "start") } catch {
            player.waitUntilExit()
            guard player.terminationStatus == 77 else { throw error }
            throw try Self.cancellation("\(error)")
        }
    }

    /// Ends the test as one that cannot run here; returns nothing.
    static func cancellation(_ why: String) throws -> any Error { try Test.cancel("\(why)") }

    deinit {
        try? steps.fileHandleForWriting.close()
        player.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Performs a command, and returns what it prints once it has succeeded.
    @discardableResult func perform(_ command: String) throws -> String {
        try steps.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        return try answer(to: command)
    }

    @discardableResult private func answer(to command: String) throws -> String {
        var lines: [String] = []
        while true {
            while let end = rest.firstIndex(of: "\n") {
                let line = String(rest[..<end])
                rest = String(rest[rest.index(after: end)...])
                if line == "ok: \(command)" { return lines.joined(separator: "\n") }
                lines.append(line)
            }
            let more = told.fileHandleForReading.availableData
            guard !more.isEmpty else { throw StepError(description: (lines + [rest]).joined(separator: "\n")) }
            rest += String(decoding: more, as: UTF8.self)
        }
    }
}
