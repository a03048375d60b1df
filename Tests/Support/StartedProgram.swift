internal import Foundation

/// A program that runs beside the test, with its input given.
public final class StartedProgram {
    public struct Output: Sendable {
        public let status: Int32
        public let out: String
        public let err: String
    }

    private let process = Process()
    private let output: FileHandle
    private let errors: FileHandle

    public init(_ command: [String], environment: [String: String], input: String = "") throws {
        output = try Self.temporaryFile()
        errors = try Self.temporaryFile()
        let given = try Self.temporaryFile()
        try given.write(contentsOf: Data(input.utf8))
        try given.seek(toOffset: 0)
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = environment
        process.standardInput = given
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    /// Waits until it ends.
    public func ended() throws -> Output {
        process.waitUntilExit()
        return Output(status: process.terminationStatus, out: try Self.text(output), err: try Self.text(errors))
    }

    /// Files, not pipes, which can fill up. They are already unlinked.
    private static func temporaryFile() throws -> FileHandle {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-output-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        defer { try? FileManager.default.removeItem(at: url) }
        return try FileHandle(forUpdating: url)
    }

    private static func text(_ file: FileHandle) throws -> String {
        try file.seek(toOffset: 0)
        return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }
}
