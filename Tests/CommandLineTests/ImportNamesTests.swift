import Testing
import VaubanCommands
import VaubanKeychainModel
import VaubanSecretText

/// The names of imported items when several records have the same name (Specs/import.md).
@Suite struct ImportNamesTests {
    private let code = "otpauth://totp/Router?secret=JBSWY3DPEHPK3PXP"
    private let otherCode = "otpauth://totp/Router?secret=GEZDGNBVGY3TQOJQ"

    private func record(
        _ group: String, password: String, codes: [String] = [], pin: String? = nil, title: String = "Router", url: String = ""
    ) -> SourceRecord {
        var record = SourceRecord(.line(1))
        (record.title, record.group, record.username, record.urls) = (title, group, "admin", [url])
        record.password = SecretBox(secret(password))
        record.codes = codes.map { SecretBox(secret($0)) }
        if let pin { record.add("PIN", text: pin, .hidden) }
        return record
    }

    private func name(_ record: SourceRecord, _ names: inout ImportNames) throws -> [ImportNames.Named] {
        let plan = try ImportPlan(record, protectsNotes: false)
        return try names.name(plan.items, group: plan.group)
    }

    private func items(_ records: [SourceRecord]) throws -> [PlannedItem] {
        var names = ImportNames()
        return try records.flatMap { try name($0, &names) }.map(\.item)
    }

    /// Returns each login in a line: its name, its password, and what is found as its code and its fields.
    private func logins(_ items: [PlannedItem]) -> Set<String> {
        let lines = items.filter { $0.role == .login }.map { login in
            let name = login.record.loginName
            let attached = [ImportPlan.codesPrefix + name, ImportPlan.fieldsPrefix + name].flatMap { service in
                items.filter { $0.record.text(.service) == service && $0.record.text(.account) == login.record.text(.account) }
            }
            return ([name] + ([login] + attached).map { text($0.secret.secret) }).joined(separator: ", ")
        }
        return Set(lines)
    }

    @Test(
        "Of two KeePass entries with the same title, the code and the PIN belong to the password of their entry",
        arguments: [true, false])
    func attachedItemsFollowTheirPassword(officeIsFirst: Bool) throws {
        func value(_ name: String, _ value: String) -> String {
            "<String><Key>\(name)</Key><Value ProtectInMemory=\"True\">\(value)</Value></String>"
        }
        func group(_ name: String, password: String, more: String) -> String {
            let common = value("Title", "Router") + value("UserName", "admin") + value("Password", password)
            return "<Group><Name>\(name)</Name><Entry>\(common)\(more)</Entry></Group>"
        }
        let home = group("Home", password: "home-password", more: "")
        let office = group("Office", password: "office-password", more: value("otp", code) + value("PIN", "4711"))
        let groups = officeIsFirst ? office + home : home + office
        let database = try KeePassXML(
            secret("<KeePassFile><Meta></Meta><Root><Group><Name>Root</Name>\(groups)</Group></Root></KeePassFile>"))
        let items = try items((0..<database.count).map { try database.source($0) })
        let (ofHome, ofOffice) = officeIsFirst ? ("Router (Root/Home)", "Router") : ("Router", "Router (Root/Office)")
        #expect(logins(items) == ["\(ofHome), home-password", "\(ofOffice), office-password, \(code), PIN: 4711"])
    }

    @Test("The same records get the same names in the next import, and also within one import")
    func namesAreStable() throws {
        let records = [
            record("Home", password: "one"), record("Office", password: "two", codes: [code, otherCode], pin: "4711"),
            record("", password: "three", codes: [otherCode]),
        ]
        let once = try items(records).map(\.record.name)
        #expect(
            once == [
                "Router/admin", "Router (Office)/admin", "otpauth:Router (Office)/admin", "otpauth:Router (Office) (2)/admin",
                "fields:Router (Office)/admin", "Router (2)/admin", "otpauth:Router (2)/admin",
            ])
        let again = try items(records).map(\.record.name)
        #expect(again == once)
        let twice = try items(records + records).map(\.record.name)
        #expect(twice == once + once)
    }

    @Test("If two records differ only in their codes or fields, the whole second record gets another name")
    func onlyAttachedItemsDiffer() throws {
        let codes = try items([
            record("Home", password: "one", codes: [code]), record("Office", password: "one", codes: [otherCode], pin: "4711"),
        ])
        #expect(logins(codes) == ["Router, one, \(code)", "Router (Office), one, \(otherCode), PIN: 4711"])
        let fields = try items([record("Home", password: "one", pin: "1"), record("Office", password: "one", codes: [code], pin: "2")])
        #expect(logins(fields) == ["Router, one, PIN: 1", "Router (Office), one, \(code), PIN: 2"])
    }

    @Test("Two records with equal passwords are one login with the codes of either")
    func equalRecordsAreOneLogin() throws {
        var names = ImportNames()
        let first = try name(record("Home", password: "one"), &names)
        let second = try name(record("Office", password: "one", codes: [code]), &names)
        #expect(logins((first + second).map(\.item)) == ["Router, one, \(code)"])
        #expect((first + second).map(\.isRenamed) == [false, false, false])
    }

    @Test("A second code of a record gets a number, and no other login gets the name to which that code would belong")
    func secondCodeBelongsToNoOtherLogin() throws {
        let records = [
            record("Office", password: "one", codes: [code, otherCode]), record("Office", password: "two"), record("", password: "three"),
        ]
        let names = try items(records).map(\.record.name)
        #expect(
            names == ["Router/admin", "otpauth:Router/admin", "otpauth:Router (2)/admin", "Router (Office)/admin", "Router (3)/admin"])
        let literal = [record("", password: "three", title: "Router (2)"), record("", password: "one", codes: [code, otherCode])]
        let others = try items(literal).map(\.record.name)
        #expect(others == ["Router (2)/admin", "Router/admin", "otpauth:Router/admin", "otpauth:Router (3)/admin"])
    }

    @Test("A distinguished name that another record has already is not used")
    func distinguishedNameIsTaken() throws {
        let items = try items([
            record("Web", password: "one", title: "Router (Office)"), record("Home", password: "two"),
            record("Office", password: "three", codes: [code]),
        ])
        #expect(logins(items) == ["Router (Office), one", "Router, two", "Router (3), three, \(code)"])
    }

    @Test("An internet password keeps its name: a record with another password is refused, and another code gets another name")
    func internetPasswordKeepsItsName() throws {
        let url = "https://example.com/"
        var names = ImportNames()
        let first = try name(record("Home", password: "one", codes: [code], url: url), &names)
        #expect(throws: SkipReason.self) { _ = try name(record("Office", password: "two", codes: [otherCode], url: url), &names) }
        let third = try name(record("Office", password: "one", codes: [otherCode], pin: "4711", url: url), &names)
        #expect(logins((first + third).map(\.item)) == ["example.com, one, \(code), PIN: 4711"])
        let attached = third.dropFirst().map(\.item.record.name)
        #expect(attached == ["otpauth:example.com (Office)/admin", "fields:example.com/admin"])
        #expect(third.map(\.isRenamed) == [false, true, false])
    }

    @Test("The name of an internet password that was not imported is free for a later record")
    func withdrawnNameIsFree() throws {
        let url = "https://example.com/"
        var names = ImportNames()
        names.withdraw(try name(record("Home", password: "one", codes: [code], url: url), &names))
        let later = try name(record("Office", password: "two", codes: [otherCode], url: url), &names)
        #expect(logins(later.map(\.item)) == ["example.com, two, \(otherCode)"])
    }
}
