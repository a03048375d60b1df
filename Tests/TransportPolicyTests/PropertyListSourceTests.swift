import Foundation
import Glibc
import Testing
import VaubanTransportPolicy

/// Where a program's property list comes from: a section of its ELF file, else the file beside it.
@Suite struct PropertyListSourceTests {
    private static func property(list host: String) -> Data {
        Data(
            """
            <?xml version="1.0"?><plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict>
            <key>NSExceptionDomains</key><dict><key>\(host)</key><dict/></dict></dict></dict></plist>
            """.utf8)
    }

    private static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("transport-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    /// Returns an ELF file with the sections null, `.shstrtab` and one more.
    private static func elf(section name: String, _ contents: Data, kind: UInt8 = 1) -> Data {
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8((value >> ($0 * 8)) & 0xFF) } }
        let names = [0] + Array(".shstrtab".utf8) + [0] + Array(name.utf8) + [0]
        let table = 64 + names.count + contents.count
        var bytes: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 33)
        bytes += number(table, 8) + [UInt8](repeating: 0, count: 10) + number(64, 2) + number(3, 2) + number(1, 2)
        bytes += names + contents
        bytes += [UInt8](repeating: 0, count: 64)
        for (start, kind, offset, size) in [(1, 3, 64, names.count), (11, Int(kind), 64 + names.count, contents.count)] {
            bytes += number(start, 4) + number(kind, 4) + number(0, 16) + number(offset, 8) + number(size, 8) + number(0, 24)
        }
        return Data(bytes)
    }

    @Test("The section takes precedence over the file beside the executable") func precedence() throws {
        try Self.withFolder { folder in
            let program = folder.appendingPathComponent("program")
            try Self.elf(section: ".other", Data()).write(to: program)
            #expect(try TransportConfiguration.ofProgram(atPath: program.path) == TransportConfiguration())
            try Self.property(list: "file.example").write(to: folder.appendingPathComponent("Info.plist"))
            #expect(try TransportConfiguration.ofProgram(atPath: program.path).exceptions.keys.first == "file.example")
            try Self.elf(section: ".info_plist", Self.property(list: "section.example")).write(to: program)
            #expect(try TransportConfiguration.ofProgram(atPath: program.path).exceptions.keys.first == "section.example")
        }
    }

    @Test("A property list that cannot be read does not count as none") func unreadable() throws {
        try Self.withFolder { folder in
            let program = folder.appendingPathComponent("program")
            try Data("#!/bin/sh\n".utf8).write(to: program)
            let list = folder.appendingPathComponent("Info.plist")
            try FileManager.default.createSymbolicLink(atPath: list.path, withDestinationPath: "/nowhere/Info.plist")
            #expect(throws: TransportConfigurationError.unreadable(path: list.path)) {
                try TransportConfiguration.ofProgram(atPath: program.path)
            }
            try Self.elf(section: ".info_plist", Data(), kind: 8).write(to: program)
            #expect(throws: TransportConfigurationError.self) { try TransportConfiguration.ofProgram(atPath: program.path) }
        }
    }

    @Test("A pipe or a folder in place of the property list or the program is refused and not waited for") func pipes() throws {
        try Self.withFolder { folder in
            let program = folder.appendingPathComponent("program"), list = folder.appendingPathComponent("Info.plist")
            try Data("#!/bin/sh\n".utf8).write(to: program)
            try #require(mkfifo(list.path, 0o600) == 0)
            #expect(throws: TransportConfigurationError.unreadable(path: list.path)) {
                try TransportConfiguration.ofProgram(atPath: program.path)
            }
            #expect(throws: TransportConfigurationError.unreadable(path: list.path)) {
                try TransportConfiguration.ofProgram(atPath: list.path)
            }
            try FileManager.default.removeItem(at: list)
            try FileManager.default.createDirectory(at: list, withIntermediateDirectories: false)
            #expect(throws: TransportConfigurationError.unreadable(path: list.path)) {
                try TransportConfiguration.ofProgram(atPath: program.path)
            }
        }
    }

    @Test("A property list that is named may be a pipe") func namedPipe() throws {
        let pipe = Pipe()
        pipe.fileHandleForWriting.write(Self.property(list: "piped.example"))
        try pipe.fileHandleForWriting.close()
        let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        #expect(try TransportConfiguration(contentsOfFile: path).exceptions.keys.first == "piped.example")
        try pipe.fileHandleForReading.close()
    }

    @Test("A property list of 100 MB, in a file or a section, is refused without being read") func hugeLists() throws {
        try Self.withFolder { folder in
            let program = folder.appendingPathComponent("program"), list = folder.appendingPathComponent("Info.plist")
            try Data("#!/bin/sh\n".utf8).write(to: program)
            try Self.property(list: "a.example").write(to: list)
            let size = 100 << 20
            try #require(truncate(list.path, off_t(size)) == 0)
            let limit = TransportConfiguration.propertyListSizeMax
            #expect(throws: TransportConfigurationError.tooLarge(size: limit + 1)) {
                try TransportConfiguration.ofProgram(atPath: program.path)
            }
            try Self.elf(section: ".info_plist", Data(count: size)).write(to: program)
            #expect(throws: TransportConfigurationError.tooLarge(size: size)) {
                try TransportConfiguration.ofProgram(atPath: program.path)
            }
        }
    }

    @Test("An executable whose sections are not read is not the same as one without") func otherExecutables() throws {
        try Self.withFolder { folder in
            let program = folder.appendingPathComponent("program")
            let intact = Self.elf(section: ".info_plist", Self.property(list: "a.example"))
            let changes: [(String, (inout Data) -> Void)] = [
                ("32-bit", { $0[4] = 1 }), ("big-endian", { $0[5] = 2 }), ("cut after its mark", { $0 = $0.prefix(20) }),
                ("extended numbering", { $0.replaceSubrange(60..<62, with: [0, 0]) }),
                ("extended index of names", { $0.replaceSubrange(62..<64, with: [0xFF, 0xFF]) }),
            ]
            for (name, change) in changes {
                var other = intact
                change(&other)
                try other.write(to: program)
                #expect(throws: TransportConfigurationError.unreadable(path: program.path), "\(name)") {
                    try TransportConfiguration.ofProgram(atPath: program.path)
                }
            }
            // An executable without a table of sections has none.
            var stripped = intact
            stripped.replaceSubrange(40..<48, with: [UInt8](repeating: 0, count: 8))
            stripped.replaceSubrange(60..<62, with: [0, 0])
            try stripped.write(to: program)
            #expect(try TransportConfiguration.ofProgram(atPath: program.path) == TransportConfiguration())
        }
    }

    @Test("A changed byte of an ELF file is read or refused, never a crash") func damagedFiles() throws {
        try Self.withFolder { folder in
            let program = folder.appendingPathComponent("program")
            let intact = Self.elf(section: ".info_plist", Self.property(list: "a.example"))
            let headers = Array(0..<64) + Array((intact.count - 192)..<intact.count)
            for index in headers {
                for value: UInt8 in [0, 1, 0x7F, 0xFF] {
                    var damaged = intact
                    damaged[index] = value
                    try damaged.write(to: program)
                    _ = try? TransportConfiguration.ofProgram(atPath: program.path)
                }
            }
        }
    }
}
