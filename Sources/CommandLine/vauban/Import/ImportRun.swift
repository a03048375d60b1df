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

    /// One item that is no line of CSV; `place` is where it stands.
    mutating func takeOne(_ place: String, _ record: ItemRecord, _ secret: borrowing SecretBytes) throws {
        if added % 100 == 0, added > 0 { progress.show("Importing: \(added)") }
        do {
            // The dates are this keychain's own.
            var record = record
            record.attributes[.creationDate] = nil
            record.attributes[.modificationDate] = nil
            if try take(record, secret) { added += 1 } else { skipped += 1 }
        } catch let fault as RowFault {
            refused += 1
            progress.clear()
            say("\(place): not taken: \(record.name): \(fault.why)")
        } catch {
            progress.clear()
            say("\(place): \(record.name): the import stops here; \(added) added before it")
            throw error
        }
    }

    func finish() { progress.clear() }

    /// A line counts once, whatever it holds.
    private mutating func take(_ row: consuming PasswordRow) throws {
        var isNew = false
        switch row.password {
        case .some(let password): isNew = try take(row.record, password)
        case .none: break
        }
        switch row.codes {
        case .some(let codes):
            do { isNew = try take(row.codesRecord, codes) || isNew } catch let fault as RowFault {
                throw RowFault("its otpauth: \(fault.why)")
            }
        case .none: break
        }
        if isNew { added += 1 } else { skipped += 1 }
    }

    /// Whether the item is new here; one that is there already with the same secret is none.
    func take(_ record: ItemRecord, _ secret: borrowing SecretBytes) throws -> Bool {
        let record = record.asOwn
        // Where programs are not told apart, one that another put there is the same item.
        if session.service.mode != .system, try session.hasNamesake(record) {
            try compare(record, secret)
            return false
        }
        do {
            let copy: SecretBytes? = secret.duplicate()
            try session.add(record, secret: copy)
            return true
        } catch let refusal as Refusal {
            switch refusal.reason {
            case .duplicateItem:
                try compare(record, secret)
                return false
            case .badParameter, .dataTooLarge, .noSuchAttribute, .unsupported, .passcodeNotSet: throw RowFault(refusal.message)
            default: throw refusal
            }
        }
    }

    /// An item that is there already is left as it is; the same one with the same secret is no news.
    private func compare(_ record: ItemRecord, _ secret: borrowing SecretBytes) throws {
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
        guard existing.equals(secret) else { throw RowFault("it exists already with another password") }
    }
}
