internal import VaubanAccessPolicy
internal import VaubanKeychainModel

/// An item that is offered for a page.
struct SiteItem {
    enum Purpose: String { case password, code }

    let purpose: Purpose
    let record: ItemRecord
    let reference: [UInt8]
    /// Why it is offered, for the user.
    let why: String

    /// How the extension names it.
    var identifier: String { reference.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// Returns the reference in an identifier; nil if it is none.
    static func reference(of identifier: String) -> [UInt8]? {
        let digits = identifier.utf8.compactMap { Self.digits.firstIndex(of: $0) }
        guard digits.count == 32, identifier.utf8.count == 32 else { return nil }
        return stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Whether each use of its value prompts the user.
    var asks: Bool { record.accessControl.map { $0.requirementToDecrypt != .none } ?? false }

    var title: String {
        let label = record.text(.label)
        return label.isEmpty ? place : label
    }

    /// The name that its one-time code has too.
    var loginName: String {
        record.kind == .internetPassword ? LoginName.of(server: record.text(.server), port: record.number(.port)) : record.text(.service)
    }

    /// The server or service that it is for.
    private var place: String { record.text(record.kind == .internetPassword ? .server : .service) }

    /// How `vauban list` names the item. Others may have the same name.
    var word: String { "\(place)/\(record.text(.account))" }
}
