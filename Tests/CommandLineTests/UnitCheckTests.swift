import Foundation
import Testing
import VaubanCommands

/// What changes the installed units, from all places where systemd looks.
@Suite struct UnitCheckTests {
    private let root = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appendingPathComponent(
        "vauban-units-\(UUID().uuidString)")
    private static let units = ["vauban-enclaved.service", "vauban-lock@.service", "vauban-enclaved.socket"]

    private func write(_ text: String, _ path: String) throws {
        let file = root.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    /// Returns what changes the units, after a file was written; nil if nothing does.
    private func change(_ path: String, to text: String = "[Service]\nProtectSystem=no\n") throws -> String? {
        defer { try? FileManager.default.removeItem(at: root) }
        let folder = "\(root.path)/usr/lib/systemd/system"
        for unit in Self.units { try write("[Service]\nProtectSystem=strict\n", "usr/lib/systemd/system/\(unit)") }
        try write(text, path)
        let lines = Self.units.map { "file 0644 root root \(String(repeating: "0", count: 64)) \(folder)/\($0)\n" }
        let manifest = try IntegrityManifest(text: "vauban integrity 1\n\(lines.joined())end \(lines.count)\n")
        let check = try #require(UnitChecks(manifest, root: root.path).sandbox)
        #expect(check.isAltered == (check.state != .met))
        return check.isAltered ? check.by : nil
    }

    @Test(
        "Drop-ins and units count in each place where systemd looks",
        arguments: [
            "etc/systemd/system/vauban-enclaved.service.d/a.conf", "etc/systemd/system/service.d/a.conf",
            "etc/systemd/system/vauban-.service.d/a.conf", "usr/lib/systemd/system/service.d/a.conf",
            "lib/systemd/system/vauban-.service.d/a.conf", "run/systemd/generator/service.d/a.conf",
            "run/systemd/generator.early/vauban-enclaved.service", "run/systemd/generator.late/vauban-enclaved.service.d/a.conf",
            "etc/systemd/system.attached/vauban-enclaved.service", "run/systemd/system.attached/vauban-enclaved.service.d/a.conf",
            "run/systemd/transient/vauban-enclaved.service.d/a.conf", "etc/systemd/system/vauban-enclaved.socket.d/a.conf",
            "etc/systemd/system/socket.d/a.conf", "etc/systemd/system/vauban-.socket.d/a.conf",
            "etc/systemd/system/vauban-lock@1000.service.d/a.conf", "etc/systemd/system/vauban-lock@1000.service",
            "etc/systemd/system/vauban-lock@.service.d/a.conf", "etc/systemd/system/vauban-enclaved.socket",
        ])
    func changesAreFound(_ path: String) throws {
        #expect(try change(path)?.contains("/\(path) changes ") == true)
    }

    @Test(
        "What is no unit or drop-in of Vauban's changes nothing",
        arguments: [
            "etc/systemd/system/vauban.service.d/a.conf", "etc/systemd/system/ssh.service.d/a.conf", "etc/systemd/system/timer.d/a.conf",
            "etc/systemd/system/van-.service.d/a.conf", "etc/systemd/system/service.d/a.txt", "run/systemd/generator/ssh.service",
            "run/systemd/generator.late/vauban-enclaved.service",
        ])
    func othersAreLeftOut(_ path: String) throws {
        #expect(try change(path) == nil)
    }

    @Test("Lines end as for systemd, and harmless settings and comments change nothing") func linesAreSplit() throws {
        let path = "etc/systemd/system/vauban-enclaved.service.d/a.conf"
        for harmless in ["[Service]\r\nMemoryMax=1G\r\n", "# ProtectSystem=no\n ; ProtectSystem=no\nNice = 1\n", ""] {
            #expect(try change(path, to: harmless) == nil, "\(harmless)")
        }
        for text in [
            "[Service]\r\nMemoryMax=1G\r\nProtectSystem=no\r\n", "# comment\r\nProtectSystem=no", "# comment\rProtectSystem=no",
            "# comment\0ProtectSystem=no", "MemoryMax=1G\n\u{301}ProtectSystem=no", "\tProtectSystem =no", "MemoryMax=1\n\u{301}Nice=1",
        ] {
            #expect(try change(path, to: text) != nil, "\(text)")
        }
    }

    private func preloading(_ path: String, _ text: String) throws -> IntegrityCheck {
        defer { try? FileManager.default.removeItem(at: root) }
        try write(text, path)
        return PreloadCheck(root: root.path).result
    }

    @Test("Libraries that the loader puts into every program are an alteration; a list without any is none")
    func listOfLibraries() throws {
        for text in ["/usr/lib/own.so", "# none\n\tlibown.so # all", ":\r\n x"] {
            let check = try preloading("etc/ld.so.preload", text)
            #expect(check.isAltered && check.by.hasPrefix("/etc/ld.so.preload "), "\(text)")
        }
        for text in ["", "\n \t:\r\n", "# /usr/lib/own.so"] { #expect(try preloading("etc/ld.so.preload", text).state == .met, "\(text)") }
    }

    @Test(
        "A variable of the loader that systemd sets for all units is an alteration, in each file of its settings",
        arguments: [
            "etc/systemd/system.conf", "etc/systemd/system.conf.d/a.conf", "run/systemd/system.conf.d/a.conf",
            "usr/lib/systemd/system.conf", "usr/local/lib/systemd/system.conf.d/a.conf",
        ])
    func variablesForAllUnits(_ path: String) throws {
        for text in [
            "[Manager]\nDefaultEnvironment=LD_PRELOAD=/x.so\n", "DefaultEnvironment = A=b \"LD_AUDIT=/x.so\"",
            "DefaultEnvironment=A=b \\\n# comment\n  LD_LIBRARY_PATH=/x", "#\rDefaultEnvironment='LD_PRELOAD=/x.so'",
        ] {
            let check = try preloading(path, text)
            #expect(check.isAltered && check.by.contains("/\(path) sets "), "\(text)")
        }
        for text in [
            #"DefaultEnvironment=L"D_PRELOAD=/x""#, "DefaultEnvironment='LD''_PRELOAD=/x'", #"DefaultEnvironment="\x4cD_PRELOAD=/x""#,
            #"DefaultEnvironment=""LD_PRELOAD=/x"#,
        ] {
            let check = try preloading(path, text)
            #expect(check.isAltered && check.by.contains("/\(path) may set "), "\(text)")
        }
        let large = try preloading(path, String(repeating: "#", count: 1 << 21))
        #expect(large.isAltered && large.by.contains("/\(path) cannot be read"))
        for text in [
            "[Manager]\n#DefaultEnvironment=LD_PRELOAD=/x.so\n", "DefaultEnvironment=A=LD_PRELOAD BUILD_LD_=x",
            "ManagerEnvironment=LD_PRELOAD=/x.so", "DefaultEnvironment=A=b\nLD_PRELOAD=/x.so",
            "DefaultEnvironment=A=b \\\n  \"C=d e\" 'F=g'",
        ] {
            #expect(try preloading(path, text).state == .met, "\(text)")
        }
    }

    @Test("What root permits programs is named, and nothing is altered by it") func grantsOfRoot() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let folder = "\(root.path)/usr/lib/systemd/system"
        let manifest = try IntegrityManifest(
            text: "vauban integrity 1\nfile 0644 root root \(String(repeating: "0", count: 64)) \(folder)/vauban-enclaved.service\nend 1\n")
        let checks = UnitChecks(manifest, root: root.path)
        #expect(checks.grants.state == .met)
        for name in ["mail.plist", "notes.txt"] { try write("", "etc/vauban/entitlements/\(name)") }
        #expect(checks.grants.state == .notMet && !checks.grants.isAltered)
        #expect(checks.grants.by.hasPrefix("mail.plist in /etc/vauban/entitlements: "))
        for number in 0..<9 { try write("", "etc/vauban/entitlements/\(number).plist") }
        #expect(checks.grants.by.contains("7.plist and 2 more in ") && !checks.grants.by.contains("mail.plist"))
    }
}
