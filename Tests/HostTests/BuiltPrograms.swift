import Foundation
import Glibc
import TestSupport
import VaubanLinuxHost

extension BuiltPrograms {
    /// The launcher for tests.
    static let launcher = "\(folder)/rooms-testing"

    /// Listens at an abstract Unix address until the tests end.
    static func listenAbstract(_ name: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { UnsafeMutableRawBufferPointer(rebasing: $0.dropFirst()).copyBytes(from: name.utf8) }
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, length) == 0 }
        }
        return isBound && listen(number, 8) == 0
    }

    /// Runs a program until it exits.
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

/// A private folder that is removed with its owner.
final class TestFolder: Sendable {
    let path: String
    let folder: PrivateFolder

    init() throws {
        var template = Array("/tmp/vauban-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("make a folder", code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        folder = try PrivateFolder(path: path, creating: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
