package import VaubanDER

/// An entry in a report of vauban-secret-service to `vauban`: another provider's items (Specs/secret-service.md, "Import"), or a picture
/// of the screen ("The screen").
///
/// `TransferEntry ::= SEQUENCE { kind INTEGER (1..9), text UTF8String, reason UTF8String, number INTEGER, record [0] ItemRecord OPTIONAL }`
package enum TransferEntry: Sendable {
    /// The provider, the first entry of a report.
    case provider(String)
    /// A sentence for the user.
    case notice(String)
    /// The number of items that follow.
    case total(Int)
    /// The record of a collection, which has no secret.
    case collection(ItemRecord)
    /// An item, whose secret follows the entry. The place is its collection and label.
    case item(place: String, ItemRecord)
    /// An item that stays with the provider, and the reason.
    case left(place: String, reason: String)
    /// The failure that ends the report: a sentence, and the number of the refusal's reason.
    case failure(String, number: Int64)
    /// The end of a complete report.
    case end
    /// The path of the file with the picture of the screen.
    case picture(String)

    /// The most bytes of one encoded entry.
    package static let bytesMax = 128 << 10
    /// The most bytes of a text; its sender truncates it.
    package static let textBytesMax = 1024
    package static let totalMax = 10_000_000
}

extension TransferEntry: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let kind = try fields.integer("kind", in: 1...9)
        let text = try fields.text("text", max: Self.textBytesMax)
        let reason = try fields.text("reason", max: Self.textBytesMax)
        let number = try fields.integer("number", in: 0...Int64(Self.totalMax))
        let record = try fields.optional(0, "record") { try $0.value("record", as: ItemRecord.self) }
        switch (kind, record) {
        case (1, nil): self = .provider(text)
        case (2, nil): self = .notice(text)
        case (3, nil): self = .total(Int(number))
        case (4, let record?): self = .collection(record)
        case (5, let record?): self = .item(place: text, record)
        case (6, nil): self = .left(place: text, reason: reason)
        case (7, nil): self = .failure(text, number: number)
        case (8, nil): self = .end
        case (9, nil): self = .picture(text)
        default: throw DERError("an entry has the parts of another kind")
        }
    }

    package func write(into der: inout DERWriter) throws {
        switch self {
        case .provider(let name): try write(1, text: name, into: &der)
        case .notice(let sentence): try write(2, text: sentence, into: &der)
        case .total(let number): try write(3, number: Int64(number), into: &der)
        case .collection(let record): try write(4, record: record, into: &der)
        case .item(let place, let record): try write(5, text: place, record: record, into: &der)
        case .left(let place, let reason): try write(6, text: place, reason: reason, into: &der)
        case .failure(let sentence, let number): try write(7, text: sentence, number: number, into: &der)
        case .end: try write(8, into: &der)
        case .picture(let path): try write(9, text: path, into: &der)
        }
    }

    private func write(
        _ kind: Int64, text: String = "", reason: String = "", number: Int64 = 0, record: ItemRecord? = nil,
        into der: inout DERWriter
    ) throws {
        try der.sequence { fields in
            try fields.integer(kind)
            try fields.text(text)
            try fields.text(reason)
            try fields.integer(number)
            if let record { try fields.tagged(0) { try $0.value(record) } }
        }
    }
}
