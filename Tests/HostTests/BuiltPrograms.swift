import Foundation
import Glibc
import VaubanLinuxHost

/// The programs that were built with these tests: beside the test program, or where the runner says.
enum BuiltPrograms {
    static let folder: String = {
        if let named = ProcessInfo.processInfo.environment["VAUBAN_BUILD"] {
            return URL(fileURLWithPath: named).resolvingSymlinksInPath().path
        }
        return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    }()

    static let launcher = "\(folder)/vauban-launcher-testing"

    /// Runs a program to its end.
    static func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}

/// A private folder that goes with its holder.
final class TestFolder: Sendable {
    let path: String
    let folder: PrivateFolder

    init() throws {
        var template = Array("/tmp/vauban-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemFault("make a folder", code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        folder = try PrivateFolder(path: path, creating: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
