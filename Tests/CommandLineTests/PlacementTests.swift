import Testing
import VaubanCommands
import VaubanKeychainModel
import VaubanSecretText

/// The kind and place that an imported record gets (Specs/import.md).
@Suite struct PlacementTests {
    @Test("A record with a URL becomes an internet password")
    func urlBecomesInternetPassword() {
        let placement = Placement(source(url: "https://Example.com:8443/login"))
        #expect(placement.kind == .internetPassword)
        #expect(placement.attributes[.server] == .text("example.com"))
        #expect(placement.attributes[.port] == .number(8443))
        #expect(placement.attributes[.path] == .text("/login"))
        #expect(placement.name == "example.com:8443" && placement.fields.isEmpty && placement.changes.isEmpty)
    }

    @Test("A host without a scheme is a server name", arguments: ["example.com", "localhost", "example.com:8080/x"])
    func bareHostIsServer(host: String) {
        let placement = Placement(source(url: host))
        #expect(placement.kind == .internetPassword && placement.changes == ["url: used as a server name"])
    }

    @Test("A record without a server becomes a generic password by its title", arguments: ["", "not a url", "urn:x"])
    func titleBecomesGenericPassword(url: String) {
        let placement = Placement(source(url: url))
        #expect(placement.kind == .genericPassword)
        #expect(placement.attributes[.service] == .text("Forum"))
        #expect(placement.fields.count == (url.isEmpty ? 0 : 1))
    }

    @Test("A web URL takes precedence over one of another protocol, and that over the name of an application")
    func webComesFirst() {
        var record = source(url: "androidapp://com.example.birds")
        record.urls += ["ftp://files.example/", "https://birds.example"]
        let placement = Placement(record)
        #expect(placement.attributes[.server] == .text("birds.example") && placement.attributes[.protocolName] == .text("htps"))
        #expect(placement.fields.map { $0.value.text ?? "" } == ["androidapp://com.example.birds", "ftp://files.example/"])
        record.urls.removeLast()
        #expect(Placement(record).attributes[.server] == .text("files.example"))
        record.urls = ["ftp://files.example/", "birds.example"]
        #expect(Placement(record).attributes[.server] == .text("birds.example"))
    }

    @Test(
        "The name of an application becomes neither a server nor a name that a browser takes for one",
        arguments: [
            ("Birds", "Birds"), ("com.example.birds", "com.example.birds (android)"), ("birds.example", "birds.example (android)"),
            ("", "com.example.birds (android)"),
        ])
    func applicationIsNoServer(title: String, service: String) {
        let address = "android://c2lnbmF0dXJl@com.example.birds/"
        var record = source(url: address)
        record.title = title
        let placement = Placement(record)
        #expect(placement.kind == .genericPassword && placement.attributes[.server] == nil)
        #expect(placement.attributes[.service] == .text(service) && placement.name == service)
        #expect(placement.attributes[.label] == .text(title.isEmpty ? service : title))
        #expect(placement.fields.map { $0.value.text ?? "" } == [address] && placement.fields.map(\.kind) == [.content])
        #expect(placement.changes == ["url: names no server; stored with the item"])
    }

    @Test("The password in the address of an application stays hidden")
    func passwordOfApplicationStaysHidden() {
        var record = source(url: "androidapp://anna:secret@com.example.birds")
        record.title = ""
        let placement = Placement(record)
        #expect(placement.name == "com.example.birds (androidapp)" && placement.fields.map(\.kind) == [.hidden])
    }

    @Test("A URL with a password never becomes an attribute or a visible field")
    func passwordInURLStaysHidden() {
        let placement = Placement(source(url: "https://anna:secret@example.com/"))
        for (_, value) in placement.attributes { #expect(!"\(value)".contains("secret")) }
        #expect(placement.fields.allSatisfy { $0.kind == .hidden })
    }

    @Test("One-time codes and hidden fields become items beside the login")
    func attachedItemsAreSeparateItems() throws {
        var record = source(url: "https://example.com/")
        record.password = SecretBox(secret("geheim"))
        record.codes = [SecretBox(secret("JBSW Y3DP-ehpk3pxp"))]
        record.add("PIN", SecretBox(secret("1234")), as: .hidden)
        let plan = try ImportPlan(record, protectsNotes: false)
        #expect(plan.items.map { $0.record.name } == ["example.com/anna", "otpauth:example.com/anna", "fields:example.com/anna"])
        #expect(
            plan.items.map { text($0.secret.secret) }
                == ["geheim", "otpauth://totp/Forum:anna?secret=JBSWY3DPEHPK3PXP&issuer=Forum", "PIN: 1234"])
    }

    /// The plan of a login with this code, in words: the value of each item, and what became of the code.
    private func plan(title: String = "Forum", code: String) throws -> (items: [String], told: [String], carried: [String]) {
        var record = source(url: "https://example.com:443/")
        record.title = title
        record.password = SecretBox(secret("geheim"))
        record.codes = [SecretBox(secret(code))]
        let plan = try ImportPlan(record, protectsNotes: false)
        let items = plan.items.dropFirst().map { "\($0.record.name) = \(text($0.secret.secret))" }
        return (Array(items), plan.changed.filter { $0.hasPrefix("one-time codes") }, plan.carried)
    }

    @Test(
        "What gives no codes is no item of codes, but a protected field, and the report says what is wrong with it",
        arguments: [
            ("otpauth://hotp/Forum:anna?secret=JBSWY3DPEHPK3PXP", "the address has no counter"),
            ("otpauth://totp/Forum:anna?issuer=Forum", "the address has no secret"),
            ("otpauth://totp/a:b:c?secret=JBSWY3DPEHPK3PXP", "the address's label is not issuer:account"),
            ("otpauth://totp/Forum?secret=JBSWY3DPEHPK3PXP&digits=12", "the address asks for a number of digits other than 6, 7 or 8"),
            ("otpauth://yaotp/Forum?secret=JBSWY3DPEHPK3PXP", "the address is of neither type: otpauth://totp/ or otpauth://hotp/"),
            ("JBSWY3D", "the address's secret is not base32: letters A to Z and digits 2 to 7"),
            ("steam://0", "this is neither an otpauth:// address nor a key in base32 (letters A to Z and digits 2 to 7)"),
        ])
    func badCodesAreProtectedFields(code: String, why: String) throws {
        let (items, told, carried) = try plan(code: code)
        #expect(items == ["fields:example.com/anna = one-time codes: \(code)"])
        #expect(told == ["one-time codes: \(why); stored as a protected field"])
        #expect(carried.contains("one-time codes (protected)") && !carried.contains("one-time codes"))
    }

    @Test(
        "A bare key becomes an address that gives codes, whatever the title, and Steam's key one of Steam's codes",
        arguments: [
            ("Forum: \u{7}news", "jbsw y3dp ehpk 3pxp", "totp/Forum%20news:anna?secret=JBSWY3DPEHPK3PXP&issuer=Forum%20news"),
            (":", "JBSWY3DPEHPK3PXP", "totp/anna?secret=JBSWY3DPEHPK3PXP"),
            ("Steam", "steam://jbswy3dpehpk3pxp", "totp/Steam:anna?secret=JBSWY3DPEHPK3PXP&issuer=Steam&encoder=steam"),
        ])
    func keysBecomeAddresses(title: String, code: String, address: String) throws {
        let (items, told, carried) = try plan(title: title, code: code)
        #expect(items == ["otpauth:example.com/anna = otpauth://\(address)"])
        #expect(told == ["one-time codes: the key became an otpauth address"] && carried.contains("one-time codes"))
    }

    @Test("Codes of a record that is no login are an item of codes beside its text, or alone")
    func codesOfOtherRecords() throws {
        var record = source(url: "")
        record.kind = "server"
        record.codes = [SecretBox(secret("otpauth://totp/Forum: anna?secret=JBSWY3DPEHPK3PXP&issuer="))]
        record.add("console", SecretBox(secret("geheim")), as: .hidden)
        let plan = try ImportPlan(record, protectsNotes: false)
        #expect(plan.items.map { $0.record.name } == ["Forum/anna", "otpauth:Forum/anna"])
        #expect(plan.items.map { $0.role } == [.document, .codes] && text(plan.items[0].secret.secret) == "console: geheim")
        #expect(plan.carried.contains("one-time codes") && plan.changed.isEmpty)
        record.fields = []
        record.add("vault", text: "Home", .about)
        let alone = try ImportPlan(record, protectsNotes: false)
        #expect(alone.items.map { $0.record.name } == ["otpauth:Forum/anna"])
        #expect(alone.items[0].record.text(.comment) == "vault: Home")
        #expect(alone.changed == ["no content: only its one-time codes became an item"])
        record.codes = [SecretBox(secret("steam://0"))]
        let useless = try ImportPlan(record, protectsNotes: false)
        #expect(useless.items.map { text($0.secret.secret) } == ["one-time codes: steam://0"] && useless.changed.count == 1)
    }

    @Test("Notes are a comment, or with --protect-notes a hidden field")
    func notesCanBeProtected() throws {
        var record = source(url: "https://example.com/")
        record.password = SecretBox(secret("geheim"))
        record.notes = SecretBox(secret("by post"))
        #expect(try ImportPlan(record, protectsNotes: false).items[0].record.text(.comment) == "by post")
        let hidden = try ImportPlan(record, protectsNotes: true)
        #expect(hidden.items[0].record.text(.comment) == "" && hidden.items.count == 2)
    }

    @Test("A record without anything to keep is refused")
    func emptyRecordsAreRefused() {
        #expect(throws: SkipReason.self) { _ = try ImportPlan(source(url: ""), protectsNotes: false) }
    }

    private func source(url: String) -> SourceRecord {
        var record = SourceRecord(.line(2))
        record.title = "Forum"
        record.urls = [url]
        record.username = "anna"
        return record
    }
}
