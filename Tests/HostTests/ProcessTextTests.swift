import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost
import Witness

/// The kernel's texts about processes, and what a process may put into them.
@Suite struct ProcessTextTests {
    private static let status =
        "Name:\tcat\nUmask:\t0022\nPPid:\t41\nTracerPid:\t0\nUid:\t1000\t1001\t1000\t1000\nNSpid:\t42\t7\nNSsid:\t40\t6\n"

    @Test("The status of a process is parsed") func statusIsParsed() throws {
        let status = try #require(ProcessStatus(Array(Self.status.utf8)))
        #expect(status.parent == 41 && status.tracer == 0 && status.user == 1000 && status.session == 40 && !status.isFirst)
        #expect(ProcessStatus(Array(Self.status.replacingOccurrences(of: "42\t7", with: "42\t1").utf8))?.isFirst == true)
    }

    @Test(
        "A status with missing, repeated or invalid fields is rejected",
        arguments: [
            ("PPid:\t41\n", ""), ("PPid:\t41\n", "PPid:\t41\nPPid:\t1\n"), ("PPid:\t41", "PPid:\t-41"), ("PPid:\t41", "PPid:\t41 1"),
            ("PPid:\t41", "PPid:"),
            ("PPid:\t41", "PPid:\t99999999999"), ("TracerPid:\t0\n", ""), ("TracerPid:\t0", "TracerPid:\t0x1"),
            ("Uid:\t1000\t1001", "Uid:\t1000"),
            ("Name:\tcat\n", ""), ("NSpid:\t42\t7\n", ""), ("Uid:\t1000\t", "Uid:\t4294967296\t"),
        ]) func foreignStatusIsRejected(_ change: (String, String))
    {
        #expect(ProcessStatus(Array(Self.status.replacingOccurrences(of: change.0, with: change.1).utf8)) == nil)
    }

    /// A process chooses its name, even one like these; the kernel keeps it on its line.
    @Test(
        "The name of a process cannot forge a field", arguments: ["a\nPPid:\t1", "x)\nTracerP", "\\nPPid: 1", "a b (c) d", "\u{FF}\u{0}"])
    func processNameForgesNoField(_ name: String)
        throws
    {
        let script =
            "import ctypes,sys; ctypes.CDLL(None).prctl(15, sys.argv[1].encode('latin1'), 0, 0, 0); print(flush=True); sys.stdin.read()"
        let arguments = ["-c", script, name.replacingOccurrences(of: "\0", with: "")]
        guard access("/usr/bin/python3", X_OK) == 0 else { try Test.cancel("there is no python3 here") }
        let process = try Waiter("/usr/bin/python3", arguments)
        _ = try process.line()
        let status = try #require(ProcessStatus(of: process.pid))
        #expect(status.parent == getpid() && status.tracer == 0 && status.user == getuid() && status.session == getsid(0))
    }

    @Test("Forged fields reject the whole text") func forgedFieldsRejectTheText() {
        for name in ["a\nPPid:\t1", "\nTracerPid:\t0", "\nUid:\t0\t0\t0\t0"] {
            #expect(ProcessStatus(Array(Self.status.replacingOccurrences(of: "cat", with: name).utf8)) == nil)
        }
    }

    @Test("The innermost systemd unit of a control group is found") func lastUnitIsFound() {
        func unit(_ text: String) -> String? { ControlGroup.unit(in: Array(text.utf8)) }
        let path = "/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Foo\\x2dBar-1.scope"
        #expect(unit("0::\(path)\n") == "app-org.gnome.Foo\\x2dBar-1.scope")
        #expect(unit("0::\(path)/inner\n") == "app-org.gnome.Foo\\x2dBar-1.scope")
        #expect(unit("3:memory:/other.service\n1:name=systemd:/system.slice/ssh.service\n0::/\n") == "ssh.service")
        for none in [
            "", "0::/\n", "0::/user.slice\n", "5:memory:/x.service\n", "0::/.scope\n", "nonsense", "0::/a b.scope\n",
            "0::/\u{202E}.scope\n",
        ] {
            #expect(unit(none) == nil, "\(none)")
        }
        #expect(unit("0::/\(String(repeating: "a", count: 300)).scope\n") == nil)
    }

    @Test("The executed files of a memory map are found") func executedFilesAreFound() throws {
        let text = """
            557651c75000-557651c79000 r--p 00000000 fe:00 254161                     /usr/bin/bash
            557651c79000-557651c8f000 r-xp 00004000 fe:00 254161                     /usr/bin/bash
            7f0000000000-7f0000001000 rwxp 00000000 00:00 0
            7f0000001000-7f0000002000 rwxp 00000000 00:00 0                          [anon:jit]
            7f0000002000-7f0000003000 r-xp 00000000 fe:00 7                          /home/a b/lib (deleted)
            7f0000003000-7f0000004000 rwxs 00000000 00:01 9                          /memfd:x y (deleted)
            7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0                          [vdso]
            """
        let code = try #require(MemoryMap.executedCode(in: Array(text.utf8)))
        #expect(code.hasCodeWithoutFile && !code.hasWrittenPages)
        #expect(
            code.files == [
                MappedFile(path: "/usr/bin/bash", identity: "fe:00 254161"),
                MappedFile(path: "/home/a b/lib (deleted)", identity: "fe:00 7"),
                MappedFile(path: "/memfd:x y (deleted)", identity: "00:01 9", isWritable: true),
            ])
        #expect(MemoryMap.identity(at: 0x5576_51C7_5000, in: Array(text.utf8)) == "fe:00 254161")
        #expect(MemoryMap.identity(at: 0x1000, in: Array(text.utf8)) == nil)
        // A path that is not UTF-8 still counts as a file, without a path.
        let odd = Array("7f-80 r-xp 0 fe:00 7   /a".utf8) + [0xFF, 0x0A]
        #expect(MemoryMap.executedCode(in: odd)?.files == [MappedFile(path: nil, identity: "fe:00 7")])
        for broken in ["nonsense", "1-2 r-x 0 fe:00 7 /a", "1-2 r-xp 0 fe:00", "xyz r-xp 0 fe:00 7 /a"] {
            #expect(MemoryMap.executedCode(in: Array(broken.utf8)) == nil, "\(broken)")
        }
        let many = (0..<4097).map { "1-2 r-xp 0 fe:00 \($0) /a" }.joined(separator: "\n")
        #expect(MemoryMap.executedCode(in: Array(many.utf8)) == nil)
    }

    @Test("Written pages of code, and code without a file, are found") func writtenPagesAndMemoryWithoutFileAreFound() throws {
        let own = "557651c75000-557651c79000 r-xp 00000000 fe:00 254161                     /usr/bin/bash\nSize:                 16 kB\n"
        let data = "557651c80000-557651c89000 rw-p 00000000 fe:00 254161                     /usr/bin/bash\nAnonymous:             8 kB\n"
        let kernel = "7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0                          [vdso]\nAnonymous:             0 kB\n"
        let flags = "Swap:                  0 kB\nVmFlags: rd ex mr mw me 41\n"
        func code(_ text: String) throws -> ExecutedCode { try #require(MemoryMap.executedCode(in: Array(text.utf8))) }
        let whole = try code(own + "Anonymous:             0 kB\n" + flags + data + kernel + flags)
        #expect(whole == ExecutedCode(files: [MappedFile(path: "/usr/bin/bash", identity: "fe:00 254161")]))
        for written in [
            own + "Anonymous:             4 kB\n", own + "Swap:                 40 kB\n",
            kernel.replacingOccurrences(of: " 0 kB", with: " 4 kB"),
        ] {
            let found = try code(data + written)
            #expect(found.hasWrittenPages && !found.hasCodeWithoutFile, "\(written)")
        }
        for name in ["", "   [heap]", "   [stack]", "   [anon:[vdso]]", "   [vdso]x"] {
            let made = try code("1000-2000 rwxp 00000000 00:00 0\(name)\nAnonymous:             4 kB\n")
            #expect(made.hasCodeWithoutFile && !made.hasWrittenPages, "\(name)")
            #expect(try !code("1000-2000 rw-p 00000000 00:00 0\(name)\n").hasCodeWithoutFile, "\(name)")
        }
        // What the kernel reports of a program that creates no code.
        let process = try Waiter("/bin/cat")
        #expect(try process.answers())
        let text = try #require(SmallFile.bytes(path: "/proc/\(process.pid)/smaps", max: 32 << 20))
        let maps = try #require(SmallFile.bytes(path: "/proc/\(process.pid)/maps", max: 4 << 20))
        let found = try code(String(decoding: text, as: UTF8.self))
        #expect(found == MemoryMap.executedCode(in: maps) && !found.files.isEmpty && !found.hasCodeWithoutFile)
    }

    @Test("Two entitlements permit code without a file") func entitlementsPermitNewCode() {
        func permits(_ list: String) -> Bool { NewCode.isPermitted(by: Array(list.utf8)) }
        let key = "<key>com.apple.security.cs.allow-jit</key>"
        #expect(permits("<plist><dict>\(key)\n\t<true/></dict></plist>") && permits("\(key)<true/>"))
        #expect(permits("<key>com.apple.security.cs.allow-unsigned-executable-memory</key> <true/>"))
        for list in [
            "", "\(key)", "\(key)<false/>", "\(key)<key>x</key><true/>", "<string>com.apple.security.cs.allow-jit</string><true/>",
        ] {
            #expect(!permits(list), "\(list)")
        }
    }

    @Test("A path in another mount namespace is traced to its real place") func placesAreFoundInAnotherView() {
        let theirs = MountTable(
            Array(
                """
                1 0 0:30 / / rw - tmpfs tmpfs rw
                2 1 8:1 /var/lib/flatpak/app/org.x/files /app ro - ext4 /dev/a rw
                3 1 8:1 /home/a\\040b /with\\040space rw - ext4 /dev/a rw
                4 2 8:2 / /app/extra ro - ext4 /dev/b rw
                """.utf8))
        let own = MountTable(
            Array("1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 8:2 /sub /data rw - ext4 /dev/b rw\n3 1 8:1 /home /h rw - x y z\n".utf8))
        #expect(theirs.places(of: "/app/bin/x", in: own) == ["/var/lib/flatpak/app/org.x/files/bin/x"])
        #expect(theirs.places(of: "/with space/x", in: own) == ["/home/a b/x", "/h/a b/x"])
        #expect(theirs.places(of: "/app/extra/sub/y", in: own) == ["/data/y"])
        for none in ["/app/extra/other", "/apple/x", "/etc/passwd", "relative", ""] {
            #expect(theirs.places(of: none, in: own) == [], "\(none)")
        }
        // A character that joins a slash does not move a boundary.
        #expect(
            theirs.places(of: "/app/\u{301}x", in: own).map { Array($0.utf8) } == [Array("/var/lib/flatpak/app/org.x/files/\u{301}x".utf8)])
        #expect(theirs.places(of: "/app\u{301}/x", in: own) == [])
        #expect(MountTable(Array("nonsense\n1 2 3\n".utf8)).places(of: "/x", in: own) == [])
    }

    /// Any input is parsed or refused, in a time proportional to its length.
    @Test("Random text is parsed or rejected in linear time") func noiseIsRejected() {
        var generator = SystemRandomNumberGenerator()
        let seeds = [Self.status, "7f-80 r-xp 0 fe:00 7   /a\n", "0::/a.scope\n", "1 0 8:1 / /\\040 rw - x y z\n"].map { Array($0.utf8) }
        for round in 0..<4000 {
            var text = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let index = Int.random(in: 0..<text.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: text[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: text.insert([0x0A, 0x20, 0x09, 0x3A, 0x5C, 0x2F, 0xFF].randomElement(using: &generator) ?? 0, at: index)
                default: text.removeSubrange(index..<min(text.count, index + 3))
                }
                if text.isEmpty { text = [0x0A] }
            }
            if let status = ProcessStatus(text) { #expect(status.parent >= 0 && status.tracer >= 0) }
            if let unit = ControlGroup.unit(in: text) { #expect(unit.utf8.count <= 256) }
            for file in MemoryMap.executedCode(in: text)?.files ?? [] { #expect(file.identity != "00:00 0") }
            #expect(MountTable(text).places(of: "/app/x", in: MountTable(seeds[3])).count <= 8)
        }
    }

    @Test("The tables of Specs/caller-identity.md match the code") func tablesMatchTheSpecification() throws {
        let document = try SpecDocument("caller-identity")
        let words = { (cell: String?) in (cell ?? "").split(separator: " ").map(String.init) }
        let kinds = try document.table("interpreters")
        #expect(kinds.map { $0["Kind"] } == InterpreterNames.table.map(\.kind))
        for (row, kind) in zip(kinds, InterpreterNames.table) { #expect(words(row["Names of the file"]) == kind.names) }
        #expect(try document.table("service managers").flatMap { words($0["Names of the file"]) } == ServiceManagerNames.names)
        // ssh forwards agents: with an identity it could sign for a server with an answer that holds (Specs/ssh-agent.md).
        #expect(InterpreterNames.contain("ssh") && !InterpreterNames.contain("ssh-keygen"))
        #expect(InterpreterNames.contain("python3.11") && InterpreterNames.contain("sh") && !InterpreterNames.contain("shutdown"))
        #expect(ServiceManagerNames.contain("containerd-shim-runc-v2") && !ServiceManagerNames.contain("systemd-resolved"))
    }
}
