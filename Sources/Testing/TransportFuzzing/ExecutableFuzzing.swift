import FuzzFinding
import Foundation
import VaubanTransportPolicy

/// A fuzzer of the executables that have a property list in a section. Reading either fails or yields the same result each time, and yields
/// nothing if there is no section of that name.
package enum ExecutableFuzzing {
    private static let name = Array(".info_plist\0".utf8)

    /// Returns the first inputs: an executable with the section, and one without.
    package static func seeds() throws -> [[UInt8]] {
        let lists = try PropertyListFuzzing.seeds()
        return [executable(".info_plist", lists[0]), executable(".info_plist", lists[1]), executable(".text", lists[1])]
    }

    /// Returns whether the input contains a declaration.
    @discardableResult package static func run(_ input: [UInt8]) throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "vauban-fuzz-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appendingPathComponent("program")
        try Data(input).write(to: program)
        let first = read(program), second = read(program)
        try require(first == second, "it is read in different ways")
        guard case .success(let found) = first else { return false }
        if found == TransportConfiguration() { return false }
        try require(input.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]), "a file that is no such executable declares something")
        try require(contains(input, name), "a file without the section declares something")
        return true
    }

    private static func read(_ program: URL) -> Result<TransportConfiguration, TransportConfigurationError> {
        do throws(TransportConfigurationError) {
            return .success(try TransportConfiguration.ofProgram(atPath: program.path))
        } catch {
            return .failure(error)
        }
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: part) }
    }

    /// Returns an ELF file with the sections null, `.shstrtab` and one more.
    private static func executable(_ section: String, _ contents: [UInt8]) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8((value >> ($0 * 8)) & 0xFF) } }
        let names = [0] + Array(".shstrtab".utf8) + [0] + Array(section.utf8) + [0]
        var bytes: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 33)
        bytes += number(64 + names.count + contents.count, 8) + [UInt8](repeating: 0, count: 10)
        bytes += number(64, 2) + number(3, 2) + number(1, 2)
        bytes += names + contents + [UInt8](repeating: 0, count: 64)
        for (start, kind, offset, size) in [(1, 3, 64, names.count), (11, 1, 64 + names.count, contents.count)] {
            bytes += number(start, 4) + number(kind, 4) + number(0, 16) + number(offset, 8) + number(size, 8) + number(0, 24)
        }
        return bytes
    }
}
