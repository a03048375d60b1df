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

    /// The identifier by which the extension names the item.
    var identifier: String { reference.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// Returns the reference in an identifier; nil if the text is not an identifier.
    static func reference(of identifier: String) -> [UInt8]? {
        let digits = identifier.utf8.compactMap { Self.digits.firstIndex(of: $0) }
        guard digits.count == 32, identifier.utf8.count == 32 else { return nil }
        return stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Whether each use of its value prompts the user.
    var needsApproval: Bool { record.accessControl.map { $0.requirementToDecrypt != .none } ?? false }

    var title: String {
        let label = record.text(.label)
        return label.isEmpty ? place : label
    }

    /// The name that the item shares with its one-time code.
    var loginName: String {
        record.kind == .internetPassword ? LoginName.of(server: record.text(.server), port: record.number(.port)) : record.text(.service)
    }

    /// The server or service that it is for.
    private var place: String { record.text(record.kind == .internetPassword ? .server : .service) }

    /// The item's name in `vauban list`. Other items may have the same name.
    var word: String { "\(place)/\(record.text(.account))" }
}
