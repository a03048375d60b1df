import VaubanJSON
import VaubanRefusal

/// A document from another password manager.
enum ForeignJSON {
    case bitwarden(BitwardenJSON)
    case onePassword(OnePasswordJSON)

    /// Returns the document as one object, or nil if it is not a JSON object.
    static func document(_ bytes: UnsafeRawBufferPointer) -> JSONObject? {
        var scanner = JSONScanner(bytes, .foreign)
        guard let first = try? scanner.next() else { return nil }
        return JSONObject(first.value, in: bytes)
    }

    /// Returns the records of a document, or nil if no known program wrote it.
    static func records(_ document: JSONObject) throws(Refusal) -> ForeignJSON? {
        if let export = try BitwardenJSON(document) { return .bitwarden(export) }
        return OnePasswordJSON(document).map(ForeignJSON.onePassword)
    }

    var count: Int {
        switch self {
        case .bitwarden(let export): export.count
        case .onePassword(let export): export.count
        }
    }

    func place(_ index: Int) -> SourcePlace {
        switch self {
        case .bitwarden(let export): export.place(index)
        case .onePassword(let export): export.place(index)
        }
    }

    func source(_ index: Int) throws(SkipReason) -> SourceRecord {
        switch self {
        case .bitwarden(let export): try export.source(index)
        case .onePassword(let export): try export.source(index)
        }
    }
}
