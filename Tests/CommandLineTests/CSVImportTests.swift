import Testing
import VaubanCommands
import VaubanRefusal
import VaubanSecretBytes

/// CSV of other password managers (Specs/import.md).
@Suite struct CSVImportTests {
    @Test("Quotation marks keep commas, line ends and doubled marks; line ends may be of any system")
    func quotesKeepContent() throws {
        let records = try rows("a,\"b,c\",\"d\"\"e\"\r\n\"two\nlines\",,\nlast,1,2")
        #expect(records == [["a", "b,c", "d\"e"], ["two\nlines", "", ""], ["last", "1", "2"]])
    }

    @Test("A record names the line where it begins, and blank lines are skipped")
    func recordsNameTheirLines() {
        let content = secret("\u{FEFF}a\n\n\"b\nb\"\nc\n")
        #expect(content.withUnsafeBytes { bytes in CSVRecords.find(in: bytes).map(\.line) } == [1, 3, 5])
    }

    @Test("A quotation mark that is never closed costs its own line only")
    func unclosedQuoteCostsOneLine() {
        let content = secret("a,b\n\"open,c\nd,e\n")
        let faults = content.withUnsafeBytes { bytes in CSVRecords.find(in: bytes).map(\.fault) }
        #expect(faults == [nil, "a quote is never closed", nil])
    }

    @Test("The export of a browser becomes a record with its parts")
    func browserExportIsRead() throws {
        let export = try CSVExport(secret("name,url,username,password,note\nForum,https://forum.example/,anna,geheim,by post\n"))
        let record = try #require(export.records.first)
        let source = try export.source(record)
        #expect(source.title == "Forum" && source.urls == ["https://forum.example/"] && source.username == "anna")
        #expect(source.password?.text == "geheim" && source.notes?.text == "by post")
    }

    @Test("A column of no known format is protected, and an address of codes is one in every column")
    func unknownColumnsAreProtected() throws {
        let header = "title,url,username,password,note,PIN hint,otpSecret,otpUrl,type"
        let export = try CSVExport(secret("\(header)\nForum,https://forum.example/,anna,geheim,by post,4711,JBSWY3DPEHPK3PXP,,old\n"))
        let source = try export.source(try #require(export.records.first))
        #expect(source.fields.map(\.name) == ["PIN hint", "type"] && source.fields.map(\.kind) == [.hidden, .content])
        #expect(source.codes.map { $0.text ?? "" } == ["JBSWY3DPEHPK3PXP"] && source.notes?.text == "by post")
        let address = "OTPAUTH://totp/Forum:anna?secret=JBSWY3DPEHPK3PXP"
        for column in ["url", "password", "note", "PIN hint", "otpUrl"] {
            let cells = header.split(separator: ",").map { $0 == column ? address : $0 == "title" ? "Forum" : "" }
            let export = try CSVExport(secret("\(header)\n\(cells.joined(separator: ","))\n"))
            let source = try export.source(try #require(export.records.first))
            #expect(source.codes.map { $0.text ?? "" } == [address], "\(column)")
            #expect(source.fields.isEmpty && source.notes == nil && source.password == nil && source.urls.isEmpty, "\(column)")
        }
        let second = try CSVExport(secret("title,username,password,totp,otp\nForum,anna,geheim,JBSWY3DPEHPK3PXP,KRSXG5A\n"))
        let both = try second.source(try #require(second.records.first))
        #expect(both.codes.map { $0.text ?? "" } == ["JBSWY3DPEHPK3PXP"] && both.fields.map(\.name) == ["otp"])
        #expect(both.fields.map(\.kind) == [.hidden])
    }

    @Test("A cell in which KeePassXC refers to another entry is reported, since it is no password")
    func referencesAreReported() throws {
        let reference = "{REF:P@I:46C9B1FFBD4ABC4BBB260C6190BAD20C}"
        let export = try CSVExport(secret("\"Title\",\"Username\",\"Password\",\"URL\"\n\"Clone\",\"anna\",\"\(reference)\",\"\"\n"))
        let source = try export.source(try #require(export.records.first))
        #expect(source.left == ["Password: refers to another entry, which KeePass's XML would resolve"])
        #expect(source.password?.text == reference)
    }

    @Test(
        "A file without the columns of a login is refused",
        arguments: ["", "name,url\n", "username,password\n", "url,username,password,Password\n"])
    func foreignFilesAreRefused(header: String) {
        #expect(throws: Refusal.self) { _ = try CSVExport(secret(header)) }
    }

    @Test(
        "The refusal of a file says whether its columns or its format are wrong",
        arguments: [
            ("name,url\n", "must name the columns"), ("url;username;password\n", "not separated by commas"),
            ("url\tusername\tpassword\n", "not separated by commas"), ("n\0a\0,\0", "in no format"),
        ])
    func refusalsOfFilesNameTheCause(header: String, words: String) {
        do {
            _ = try CSVExport(secret(header))
            Issue.record("it was taken")
        } catch {
            #expect(error.detail?.contains(words) == true)
        }
    }

    @Test("A record with another number of fields, or one that is not UTF-8, is refused by itself")
    func wrongRecordsAreRefused() throws {
        let export = try CSVExport(SecretBytes(copying: Array("url,username,password\na,b\n".utf8) + [0xFF] + Array(",b,c\n".utf8)))
        for record in export.records { #expect(throws: SkipReason.self) { _ = try export.source(record) } }
    }

    /// In Latin-1, the stored password would be another one than the login's.
    @Test("A password that is not UTF-8 is refused with the way out")
    func passwordsInOtherEncodingsAreRefused() throws {
        let content = Array("url,username,password\nhttps://example.com/,anna,gr".utf8) + [0xFC, 0xDF] + Array("e\n".utf8)
        let export = try CSVExport(SecretBytes(copying: content))
        let record = try #require(export.records.first)
        let reason = try #require(throws: SkipReason.self) { _ = try export.source(record) }
        #expect(reason.why == "its password is not UTF-8; save the file as UTF-8")
    }

    private func rows(_ text: String) throws -> [[String?]] {
        secret(text).withUnsafeBytes { bytes in
            CSVRecords.find(in: bytes).map { CSVRecords.fields(of: $0, in: bytes)?.map { $0.text(in: bytes) } ?? [] }
        }
    }
}
