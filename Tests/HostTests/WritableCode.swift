import Foundation
import TestSupport
import Testing

/// Executables whose code the process that executes them may overwrite.
enum WritableCode {
    /// Returns an executable whose program headers have its code mapped writable (PF_W in each PT_LOAD with PF_X).
    static func added(to program: [UInt8]) throws -> [UInt8] {
        func number(_ offset: Int, _ count: Int) -> Int { program[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) } }
        try #require(program.count > 64 && program[4] == 2)
        var changed = program, count = 0
        for index in 0..<number(56, 2) {
            let header = number(32, 8) + index * number(54, 2)
            guard number(header, 4) == 1, program[header + 4] & 1 != 0 else { continue }
            changed[header + 4] |= 2
            count += 1
        }
        #expect(count > 0)
        return changed
    }

    /// Replaces an executable by one with such code.
    static func add(to path: String) throws {
        try ProgramFile.write(added(to: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))), to: path)
    }
}
