import VaubanRefusal

/// A document that another password manager wrote.
enum ForeignJSON {
    case bitwarden(BitwardenJSON)
    case onePassword(OnePasswordJSON)

    /// The document as one object; nil where it is none, or is no JSON.
    static func document(_ bytes: UnsafeRawBufferPointer) -> JSONObject? {
        var scanner = JSONScanner(bytes, .foreign)
        guard let first = try? scanner.next() else { return nil }
        return JSONObject(first.value, in: bytes)
    }

    /// Nil where it is no document of a program that is known here.
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

    func source(_ index: Int) throws(RowError) -> SourceRecord {
        switch self {
        case .bitwarden(let export): try export.source(index)
        case .onePassword(let export): try export.source(index)
        }
    }
}
