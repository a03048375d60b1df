import Glibc
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanSecretBytes

/// Brings an export into the keychain, line by line. Each line is one add, so none is half there, whatever happens.
struct ImportRun {
    private let session: Session
    private let progress = Progress()
    private(set) var added = 0
    private(set) var skipped = 0
    private(set) var refused = 0

    init(_ session: Session) { self.session = session }

    mutating func run(_ export: borrowing PasswordExport) throws {
        for (index, record) in export.records.enumerated() {
            if index % 100 == 0 && index > 0 { progress.show("Importing: \(index) of \(export.records.count)") }
            do {
                try take(try export.row(record))
            } catch let fault as RowFault {
                refused += 1
                progress.clear()
                say("line \(record.line): not taken: \(fault.why)")
            } catch {
                progress.clear()
                say("line \(record.line): the import stops here; \(added) added before it")
                throw error
            }
        }
        progress.clear()
    }

    private mutating func take(_ row: consuming PasswordRow) throws {
        var named = row.record
        named.attributes[.accessGroup] = .text(AccessGroup.commandLine)
        let record = named
        // Where programs are not told apart, one that another put there is the same item.
        if session.service.mode != .system, try isThere(record) { return try compare(record, row.password) }
        do {
            _ = try session.opening { try session.keychain.add(record, secret: row.password) }
            added += 1
        } catch let refusal as Refusal {
            switch refusal.reason {
            case .duplicateItem: try compare(record, row.password)
            case .badParameter, .dataTooLarge, .noSuchAttribute, .unsupported: throw RowFault(refusal.message)
            default: throw refusal
            }
        }
    }

    /// Whether any owner has an item of this name.
    private func isThere(_ record: ItemRecord) throws -> Bool {
        var query = record.namesake(ofAnyOwner: true)
        query.authenticationUI = .describe
        let wanted = query
        do {
            return try session.opening { try !session.keychain.copyMatching(wanted).isEmpty }
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            return false
        }
    }

    /// An item that is there already is left as it is; the same one with the same secret is no news.
    private mutating func compare(_ record: ItemRecord, _ password: borrowing SecretBytes?) throws {
        // The owner is named where programs are told apart.
        var query = record.namesake(ofAnyOwner: session.service.mode != .system)
        query.returnsData = true
        query.authenticationUI = .skip
        let found: [FoundEntry]
        do throws(Refusal) {
            found = try session.keychain.copyMatching(query)
        } catch {
            guard error.reason == .itemNotFound || error.reason == .interactionNotAllowed else { throw error }
            throw RowFault("it exists already, and asks for you, so the two were not compared")
        }
        guard let existing = found.first(where: { $0.record?.isSameItem(as: record) ?? false })?.takeSecret() else {
            throw RowFault("it exists already, and asks for you, so the two were not compared")
        }
        switch password {
        case .some(let password) where existing.equals(password): skipped += 1
        default: throw RowFault("it exists already with another password")
        }
    }
}
