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

    @Test(
        "A file without the columns of a login is refused",
        arguments: ["", "name,url\n", "username,password\n", "url,username,password,Password\n"])
    func foreignFilesAreRefused(header: String) {
        #expect(throws: Refusal.self) { _ = try CSVExport(secret(header)) }
    }

    @Test("A record with another number of fields, or one that is not UTF-8, is refused by itself")
    func wrongRecordsAreRefused() throws {
        let export = try CSVExport(SecretBytes(copying: Array("url,username,password\na,b\n".utf8) + [0xFF] + Array(",b,c\n".utf8)))
        for record in export.records { #expect(throws: SkipReason.self) { _ = try export.source(record) } }
    }

    private func rows(_ text: String) throws -> [[String?]] {
        secret(text).withUnsafeBytes { bytes in
            CSVRecords.find(in: bytes).map { CSVRecords.fields(of: $0, in: bytes)?.map { $0.text(in: bytes) } ?? [] }
        }
    }
}
