import VaubanCommands
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanPlainText
import VaubanRefusal

/// The programs that may read an item, and its last uses.
package struct ItemAccess: Hashable, Sendable {
    /// A program that the user permits to read the item.
    package struct Reader: Hashable, Sendable {
        let subject: String
        /// The program's name for the user.
        package let title: String
    }

    /// One use of the item, in words.
    package struct Use: Hashable, Sendable {
        package let title: String
        package let text: String
    }

    /// The programs with the user's consent; nil where programs are not distinguished.
    package let readers: [Reader]?
    /// The last uses, the newest first; nil if the access log cannot be read.
    package let uses: [Use]?
    /// Whether the log may contain earlier uses that were not searched for.
    package let hasMoreUses: Bool
}

extension ItemKeychain {
    /// The most pages of the access log that are searched for one item's uses, and the most uses that are shown.
    private static let logPagesMax = 16
    private static let usesMax = 12
    private static let shownMax = 160

    package func access(to page: ItemPage) throws -> ItemAccess {
        let readers = try readers(of: page)
        let (uses, hasMore) = uses(of: page.row)
        return ItemAccess(readers: readers, uses: uses, hasMoreUses: hasMore)
    }

    /// Revokes a program's permission to read an item. It needs no approval.
    package func revoke(_ reader: ItemAccess.Reader, of row: ItemRow) throws {
        do throws(Refusal) {
            try keychain.permit(PermissionChange(.reads, subject: reader.subject, permits: false, item: query(for: row)))
        } catch {
            guard error.reason == .itemNotFound else { throw error }
            throw Refusal(.itemNotFound, "This program may no longer read the item")
        }
    }

    private func readers(of page: ItemPage) throws -> [ItemAccess.Reader]? {
        let permissions: [Permission]
        do throws(Refusal) {
            permissions = try keychain.permissions()
        } catch {
            guard error.reason == .notAllowedHere else { throw error }
            return nil
        }
        let object = PermissionObject.name(of: page.record)
        let subjects = Set(permissions.filter { $0.kind == .reads && $0.object == object }.map(\.subject))
        return subjects.sorted().map { ItemAccess.Reader(subject: $0, title: SafeText.path($0, max: Self.shownMax)) }
    }

    private func uses(of row: ItemRow) -> (uses: [ItemAccess.Use]?, hasMore: Bool) {
        var uses: [ItemAccess.Use] = []
        var query = AccessLogQuery()
        for _ in 0..<Self.logPagesMax {
            guard let page = try? keychain.accessLogPage(query) else { return (nil, false) }
            for record in page.records.compactMap(\.record) {
                for item in record.items where item.item == row.reference {
                    guard uses.count < Self.usesMax else { return (uses, true) }
                    uses.append(Self.use(record, count: item.count))
                }
            }
            guard let last = page.records.last?.number, last > max(page.oldest, 1) else { return (uses, false) }
            query = AccessLogQuery(before: last)
        }
        return (uses, true)
    }

    private static func use(_ record: AccessRecord, count: Int64) -> ItemAccess.Use {
        let action =
            switch record.action {
            case .read: "Read"
            case .added: "Added"
            case .changed: "Changed"
            case .deleted: "Deleted"
            case .backedUp: "Copied into a backup"
            case .synchronized: "Copied for your other devices"
            case .signed: "Used to sign"
            case .decrypted: "Used to decrypt"
            }
        let outcome =
            switch record.outcome {
            case .done: ""
            case .approved: ", with your approval"
            case .refused: ", refused"
            case .notApproved: ", not approved"
            }
        let program = record.program.map { program in
            let name = program.path.isEmpty ? "an unknown program" : SafeText.path(program.path, max: shownMax)
            guard program.throughCommandLine else { return " by \(name)" }
            let commands = program.commands.compactMap { $0.split(separator: "/").last }.map { SafeText.line(String($0), max: shownMax) }
            return " by \(name), with \(commands.isEmpty ? "vauban" : commands.joined(separator: ", "))"
        }
        let times = count > 1 ? ", \(count) times" : ""
        return ItemAccess.Use(title: ItemPage.text(ofTime: record.ended), text: "\(action)\(program ?? "")\(outcome)\(times)")
    }
}

/// The name of an item in a permission to read it, in the keychain's wording; a permission identifies its item by nothing else.
enum PermissionObject {
    static func name(of record: ItemRecord) -> String {
        let parts = [record.text(record.kind == .internetPassword ? .server : .service), record.text(.account)].filter { !$0.isEmpty }
        let label = record.text(.label)
        let name = parts.isEmpty ? (label.isEmpty ? "without a name" : label) : parts.joined(separator: "/")
        return PlainLine.bothEnds("\(name) of \(record.owner)", bytesMax: Permission.textBytesMax)
    }
}
