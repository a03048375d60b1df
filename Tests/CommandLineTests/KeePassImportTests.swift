import Testing
import VaubanCommands
import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretText

/// The XML of KeePassXC and KeePass (Specs/import.md).
@Suite struct KeePassImportTests {
    private func document(_ groups: String, meta: String = "") -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<KeePassFile><Meta>\(meta)</Meta><Root>\(groups)</Root></KeePassFile>"
    }

    private func value(_ name: String, _ value: String, isProtected: Bool = false) -> String {
        "<String><Key>\(name)</Key><Value\(isProtected ? " ProtectInMemory=\"True\"" : "")>\(value)</Value></String>"
    }

    /// One entry with a title, a user name, a password, and more, in the group Root.
    private func entry(_ more: String, password: String = "geheim") -> String {
        "<Entry>\(value("Title", "Forum"))\(value("UserName", "anna"))\(value("Password", password, isProtected: true))\(more)</Entry>"
    }

    private func sources(_ text: String) throws -> [SourceRecord] {
        let database = try KeePassXML(secret(text))
        return try (0..<database.count).map { index in try database.source(index) }
    }

    private func only(_ more: String) throws -> SourceRecord {
        let sources = try sources(document("<Group><Name>Root</Name>\(entry(more))</Group>"))
        try #require(sources.count == 1)
        return sources[0]
    }

    private func words(_ fields: [SourceField]) -> [String] { fields.map { "\($0.name): \($0.value.text ?? "") (\($0.kind))" } }

    @Test("An entry becomes a record with its parts; groups and tags are tags, and a protected value is a protected field")
    func entryIsRead() throws {
        let more =
            "<UUID>AAAAAAAAAAAAAAAAAAAAAQ==</UUID><Tags>bank;Main</Tags><IconID>0</IconID>" + value("URL", "https://forum.example/")
            + value("KP2A_URL", "https://www.forum.example/") + value("Notes", "by &lt;post&gt;\nand &amp; more") + value("Branch", "north")
            + value("PIN", "4711", isProtected: true) + "<Strange>part</Strange>"
        let groups = "<Group><Name>Root</Name><Group><Name>Work</Name><Group><Name>Web</Name>\(entry(more))</Group></Group></Group>"
        let sources = try sources(document(groups, meta: "<Generator>KeePassXC</Generator>"))
        let source = try #require(sources.first)
        #expect(source.title == "Forum" && source.username == "anna" && source.password?.text == "geheim")
        #expect(source.urls == ["https://forum.example/", "https://www.forum.example/"])
        #expect(source.notes?.text == "by <post>\nand & more" && !source.hidesNotes)
        #expect(source.tags == ["Work/Web", "bank", "Main"] && source.group == "Root/Work/Web")
        #expect(
            words(source.fields) == [
                "Branch: north (content)", "PIN: 4711 (hidden)", "Strange: part (hidden)", "UUID: AAAAAAAAAAAAAAAAAAAAAQ== (about)",
            ])
        #expect(source.left.isEmpty && source.changed.isEmpty && source.codes.isEmpty)
        let comment = try ImportPlan(source, protectsNotes: false).items[0].record.text(.comment)
        #expect(comment.hasSuffix("imported from: KeePassXC\nTags: Work/Web, bank, Main"))
    }

    @Test(
        "Dates are those of KeePass, in words, or of KeePassXC, in seconds since the year 1",
        arguments: ["2026-11-22T10:56:06Z", "RsGU4g4AAAA="])
    func datesAreRead(date: String) throws {
        let times = "<Times><CreationTime>\(date)</CreationTime><ExpiryTime>\(date)</ExpiryTime><Expires>True</Expires></Times>"
        #expect(words(try only(times).fields) == ["created: 2026-11-22T10:56:06Z (about)", "expires: 2026-11-22T10:56:06Z (about)"])
        #expect(words(try only(times.replacing("True", with: "False")).fields) == ["created: 2026-11-22T10:56:06Z (about)"])
    }

    @Test(
        "One-time codes in each form of KeePass become an address",
        arguments: [
            ([("otp", "otpauth://totp/F: a?secret=JBSWY3DPEHPK3PXP")], "otpauth://totp/F: a?secret=JBSWY3DPEHPK3PXP"),
            ([("Other", "otpauth://totp/F?secret=JBSWY3DPEHPK3PXP")], "otpauth://totp/F?secret=JBSWY3DPEHPK3PXP"),
            ([("otp", "key=JBSWY3DPEHPK3PXP&amp;step=60&amp;size=8&amp;otpHashMode=Sha256")], "totp algorithm=Sha256&digits=8&period=60"),
            ([("otp", "size=6&amp;key=JBSWY3DPEHPK3PXP&amp;type=Hotp&amp;counter=4")], "hotp digits=6&counter=4"),
            ([("TOTP Seed", "jbsw y3dp ehpk 3pxp"), ("TOTP Settings", "60;8")], "totp digits=8&period=60"),
            ([("TOTP Seed", "JBSWY3DPEHPK3PXP"), ("TOTP Settings", "30;S")], "totp encoder=steam&period=30"),
            ([("TOTP Seed", "JBSWY3DPEHPK3PXP")], "totp"),
            ([("TimeOtp-Secret-Base32", "JBSWY3DPEHPK3PXP"), ("TimeOtp-Period", "60")], "totp period=60"),
            ([("TimeOtp-Secret-Hex", "48656c6c6f21DEADBEEF"), ("TimeOtp-Algorithm", "HMAC-SHA-512")], "totp algorithm=SHA-512"),
            ([("TimeOtp-Secret-Base64", "SGVsbG8h3q2+7w=="), ("TimeOtp-Length", "8")], "totp digits=8"),
            ([("HmacOtp-Secret-Base32", "JBSWY3DPEHPK3PXP"), ("HmacOtp-Counter", "3")], "hotp counter=3"),
        ] as [([(String, String)], String)])
    func codesAreRead(values: [(String, String)], wanted: String) throws {
        let source = try only(values.map { value($0.0, $0.1, isProtected: true) }.joined())
        let parts = wanted.split(separator: " ", maxSplits: 1).map(String.init)
        let address =
            wanted.hasPrefix("otpauth:")
            ? wanted
            : "otpauth://\(parts[0])/Forum:anna?secret=JBSWY3DPEHPK3PXP&issuer=Forum" + parts.dropFirst().map { "&\($0)" }.joined()
        #expect(source.codes.map { $0.text ?? "" } == [address] && source.fields.isEmpty)
        #expect(source.changed == (wanted.hasPrefix("otpauth:") ? [] : ["one-time codes: the key became an otpauth address"]))
        #expect(try ImportPlan(source, protectsNotes: false).items.map(\.role) == [.login, .codes])
    }

    @Test("A key in a form that nobody reads is a protected field, whatever the entry says")
    func strangeKeysAreProtected() throws {
        let source = try only(value("TimeOtp-Secret-Hex", "4x") + value("TimeOtp-Period", "60"))
        #expect(source.codes.isEmpty && words(source.fields) == ["TimeOtp-Secret-Hex: 4x (hidden)", "TimeOtp-Period: 60 (content)"])
    }

    @Test("Of earlier versions each value that was replaced is a protected field, the last one first")
    func historyIsKept() throws {
        func changed(_ date: String) -> String { "<Times><LastModificationTime>\(date)T00:00:00Z</LastModificationTime></Times>" }
        let file = "<Binary><Key>a.txt</Key><Value Ref=\"0\"/></Binary>"
        let history =
            entry(changed("2026-01-01") + value("Notes", "old"), password: "one") + entry(changed("2026-02-02"), password: "two")
            + entry(changed("2026-03-03") + file, password: "two")
        let source = try only(changed("2026-04-04") + "<History>\(history)</History>")
        #expect(
            words(source.fields) == [
                "last modified: 2026-04-04T00:00:00Z (about)", "earlier password until 2026-04-04T00:00:00Z: two (hidden)",
                "earlier password until 2026-02-02T00:00:00Z: one (hidden)", "earlier notes until 2026-02-02T00:00:00Z: old (hidden)",
            ])
        #expect(source.left == ["attached file a.txt of an earlier version"] && source.password?.text == "geheim")
    }

    @Test("Attached files are left by name; auto-type and data of plug-ins are protected fields")
    func restIsKept() throws {
        let association = "<Association><Window>Forum*</Window><KeystrokeSequence>{TAB}x</KeystrokeSequence></Association>"
        let source = try only(
            "<Binary><Key>deed.pdf</Key><Value Ref=\"0\"/></Binary>"
                + "<AutoType><Enabled>True</Enabled><DefaultSequence/>\(association)</AutoType>"
                + "<CustomData><Item><Key>plug-in</Key><Value>data</Value></Item></CustomData><OverrideURL>cmd://x</OverrideURL>")
        #expect(source.left == ["attached file deed.pdf"])
        #expect(
            words(source.fields) == [
                "auto-type of a window: Forum*: {TAB}x (hidden)", "plug-in: data (hidden)", "override URL: cmd://x (about)",
            ])
    }

    @Test("A reference gives the value to which it leads; one that leads nowhere is reported")
    func referencesAreResolved() throws {
        func copy(_ reference: String) -> String { "<Entry>\(value("Title", "Copy"))\(value("Password", reference))</Entry>" }
        let identifier = "<UUID>AAAAAAAAAAAAAAAAAAAAAQ==</UUID>"
        let (first, none) = (String(repeating: "0", count: 31) + "1", String(repeating: "A", count: 32))
        let references = [
            "{REF:P@I:\(first)}", "{ref:u@i:\(first)}", "{REF:A@I:\(first)}", "{REF:P@I:\(none)}", "x{REF:P@I:\(first)}", "{REF:P@T:Forum}",
        ]
        let sources = try sources(document("<Group>\(entry(identifier))\(references.map(copy).joined())</Group>"))
        let passwords = sources.dropFirst().map { $0.password?.text ?? "" }
        #expect(Array(passwords.prefix(3)) == ["geheim", "anna", ""] && Array(passwords.dropFirst(3)) == Array(references.dropFirst(3)))
        let (changed, left) = (["password: taken from the entry to which it refers"], ["password: refers to another entry"])
        #expect(sources.map(\.changed) == [[], changed, changed, changed, [], [], []])
        #expect(sources.map(\.left) == [[], [], [], [], left, left, left])
    }

    @Test("What is in the recycle bin is skipped, while there is one", arguments: [true, false])
    func recycleBinIsSkipped(isEnabled: Bool) throws {
        let identifier = "AAAAAAAAAAAAAAAAAAAABA=="
        let isOn = isEnabled ? "True" : "False"
        let meta = "<RecycleBinEnabled>\(isOn)</RecycleBinEnabled><RecycleBinUUID>\(identifier)</RecycleBinUUID>"
        let bin = "<Group><UUID>\(identifier)</UUID><Name>Bin</Name><Group><Name>Old</Name>\(entry(""))</Group></Group>"
        let text = document("<Group><Name>Root</Name>\(bin)</Group>", meta: meta)
        if isEnabled {
            #expect(throws: SkipReason.self) { _ = try sources(text) }
        } else {
            #expect(try sources(text).map(\.tags) == [["Bin/Old"]])
        }
    }

    @Test("The notes of a group are a record of their own")
    func notesOfGroups() throws {
        let sources = try sources(
            document("<Group><Name>Root</Name><Notes> </Notes><Group><Name>Work</Name><Notes>ask</Notes></Group></Group>"))
        #expect(sources.map(\.title) == ["Root/Work"] && sources.map(\.kind) == ["notes of a group"])
        #expect(try ImportPlan(sources[0], protectsNotes: false).items.map { text($0.secret.secret) } == ["ask"])
    }

    @Test("An entry whose values are still encrypted is refused by itself")
    func encryptedValuesAreRefused() throws {
        let encrypted = "<Entry><String><Key>Password</Key><Value Protected=\"True\">c2VjcmV0</Value></String></Entry>"
        let database = try KeePassXML(secret(document("<Group>\(encrypted)\(entry(""))</Group>")))
        #expect(throws: SkipReason.self) { _ = try database.source(0) }
        #expect(try database.source(1).password?.text == "geheim")
    }

    @Test(
        "What is no whole export is refused, and with it every document type",
        arguments: [
            "<html/>", "<KeePassFile>", "<KeePassFile></Meta>", "<KeePassFile>&other;</KeePassFile>",
            "<!DOCTYPE KeePassFile><KeePassFile/>", "<!DOCTYPE KeePassFile [<!ENTITY a \"b\">]><KeePassFile>&a;</KeePassFile>",
            "<!DOCTYPE KeePassFile SYSTEM \"file:///etc/passwd\"><KeePassFile/>",
            "<KeePassFile>" + String(repeating: "<Root>", count: 200) + String(repeating: "</Root>", count: 200) + "</KeePassFile>",
        ])
    func brokenFilesAreRefused(text: String) {
        #expect(throws: Refusal.self) { _ = try KeePassXML(secret(text)) }
    }
}
