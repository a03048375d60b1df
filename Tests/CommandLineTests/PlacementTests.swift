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

    @Test("A URL with a password never becomes an attribute or a visible field")
    func passwordInURLStaysHidden() {
        let placement = Placement(source(url: "https://anna:secret@example.com/"))
        for (_, value) in placement.attributes { #expect(!"\(value)".contains("secret")) }
        #expect(placement.fields.allSatisfy { $0.kind == .hidden })
    }

    @Test("One-time codes and hidden fields become items beside the login")
    func companionsAreSeparateItems() throws {
        var record = source(url: "https://example.com/")
        record.password = SecretBox(secret("geheim"))
        record.codes = [SecretBox(secret("JBSW Y3DP-ehpk3pxp"))]
        record.add("PIN", SecretBox(secret("1234")), .hidden)
        let plan = try ImportPlan(record, protectsNotes: false)
        #expect(plan.items.map { $0.record.name } == ["example.com/anna", "otpauth:example.com/anna", "fields:example.com/anna"])
        #expect(
            plan.items.map { text($0.secret.secret) }
                == ["geheim", "otpauth://totp/Forum:anna?secret=JBSWY3DPEHPK3PXP&issuer=Forum", "PIN: 1234"])
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
