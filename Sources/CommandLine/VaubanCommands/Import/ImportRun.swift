import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// Brings records into the keychain one by one. Each item is one add, so none is half there, whatever happens.
struct ImportRun {
    private let session: Session
    private let isDryRun: Bool
    private let protectsNotes: Bool
    private let progress = Progress()
    private(set) var report: ImportReport
    /// The items that were here before, by all that makes them unique, and those of this run with their secrets. One search
    /// at the beginning instead of one for each record.
    private let known: Set<ItemIdentity>
    private var taken: [ItemIdentity: (secret: SecretBox, record: ItemRecord)] = [:]
    /// For the line that says how far it is.
    var total: Int?

    /// Opens the keychain if it is closed, and looks what is there.
    init(_ session: Session, isDryRun: Bool = false, protectsNotes: Bool = false) throws {
        self.session = session
        self.isDryRun = isDryRun
        self.protectsNotes = protectsNotes
        report = ImportReport(isDryRun: isDryRun)
        try session.openNow()
        var known: Set<ItemIdentity> = []
        for kind in [ItemKind.genericPassword, .internetPassword] {
            for record in try session.described(kind).compactMap(\.record) {
                // Where programs are not told apart, one that another put there is the same item.
                if session.service.mode == .system, record.owner != AccessGroup.commandLine { continue }
                known.insert(ItemIdentity(record))
            }
        }
        self.known = known
    }

    /// One record of another password manager. A record that cannot be taken is noted, and stops no other.
    mutating func take(_ place: SourcePlace, _ read: () throws(RowError) -> SourceRecord) throws {
        show()
        let plan: ImportPlan
        do throws(RowError) {
            plan = try ImportPlan(try read(), protectsNotes: protectsNotes)
        } catch {
            return refuse(place, error)
        }
        var noted = RecordReport(
            line: place.line, source: place.name, item: plan.items[0].record.name, outcome: .present, carried: plan.carried,
            changed: plan.changed, left: plan.left)
        for (index, item) in plan.items.enumerated() {
            do {
                let taken = try stopping(at: place) { run in try run.take(item, group: plan.group) }
                if taken.isNew { noted.outcome = noted.outcome == .notTaken ? .notTaken : .added }
                if index == 0 { noted.item = taken.record.name }
                if taken.isRenamed { noted.changed.append("name: another record has it; this one is \(taken.record.name)") }
                noted.left += taken.left
            } catch let fault as RowError {
                let part = index == 0 ? "" : "its \(item.role.shown): "
                noted.outcome = .notTaken
                noted.reason = noted.reason ?? part + fault.why
                // Without the item itself its companions would mean nothing.
                if index == 0 {
                    (noted.carried, noted.changed, noted.left) = ([], [], [])
                    break
                }
                noted.left.append(item.role.shown)
                noted.carried.removeAll { item.role == .codes ? $0 == "one-time codes" : $0.hasSuffix("(protected)") }
            }
        }
        note(noted)
    }

    /// One item that is whole as it is: of a document or an export of this program.
    mutating func takeWhole(_ place: SourcePlace, _ record: ItemRecord, _ secret: borrowing SecretBytes) throws {
        show()
        // The dates are this keychain's own.
        var record = record
        record.attributes[.creationDate] = nil
        record.attributes[.modificationDate] = nil
        let item = PlannedItem(role: .document, record: record, secret: SecretBox(secret.duplicate()))
        var noted = RecordReport(
            line: place.line, source: place.name, item: record.name, outcome: .present, carried: ["password", "all attributes"])
        do {
            let taken = try stopping(at: place) { run in try run.take(item, group: nil) }
            if taken.isNew { noted.outcome = .added }
            noted.left += taken.left
        } catch let fault as RowError {
            noted.outcome = .notTaken
            noted.carried = []
            noted.reason = fault.why
        }
        note(noted)
    }

    /// One record that cannot even be read.
    mutating func refuse(_ place: SourcePlace, _ fault: RowError) {
        note(RecordReport(line: place.line, source: place.name, item: "", outcome: .notTaken, reason: fault.why))
    }

    func finish() { progress.clear() }

    private mutating func note(_ record: RecordReport) {
        report.note(record)
        guard record.outcome == .notTaken else { return }
        progress.clear()
        for line in record.lines(isDryRun: isDryRun).prefix(1) { say(line) }
    }

    private func show() {
        let done = report.records.count
        if done % 100 == 0, done > 0 { progress.show("Importing: \(done)\(total.map { " of \($0)" } ?? "")") }
    }

    /// What is no fault of one record, as a keychain that was locked meanwhile, ends the import, and it is said where.
    private mutating func stopping<Result>(at place: SourcePlace, _ work: (inout ImportRun) throws -> Result) throws -> Result {
        do { return try work(&self) } catch {
            guard !(error is RowError) else { throw error }
            progress.clear()
            say("\(place.name): the import stops here; \(report.added) added before it")
            throw error
        }
    }

    // MARK: One item

    private struct Taken {
        let record: ItemRecord
        var isNew = false
        var isRenamed = false
        var left: [String] = []
    }

    private static let namesMax = 1000

    /// Adds the item if it is not here. In a group two records of one name stay apart; an item that is no record of another program
    /// has none, and keeps its name.
    private mutating func take(_ item: PlannedItem, group: String?) throws -> Taken {
        var record = item.record.asOwn
        var number = 1
        while let earlier = taken[ItemIdentity(record)] {
            if earlier.secret.secret.equals(item.secret.secret) {
                return Taken(record: record, isRenamed: number > 1, left: Self.differences(item, earlier.record))
            }
            guard let group, record.kind == .genericPassword, number < Self.namesMax else {
                throw RowError("it exists already with another password")
            }
            number += 1
            let mark = number == 2 && !group.isEmpty ? group : "\(number)"
            record.attributes[.service] = .text("\(item.record.text(.service)) (\(mark))")
        }
        let identity = ItemIdentity(record)
        var result = Taken(record: record, isRenamed: number > 1)
        if known.contains(identity) {
            result.left = Self.differences(item, try compare(record, item.secret))
        } else if isDryRun {
            result.isNew = true
        } else if try add(record, item.secret) {
            result.isNew = true
        } else {
            result.left = Self.differences(item, try compare(record, item.secret))
        }
        taken[identity] = (item.secret, record)
        return result
    }

    /// Whether it was added; an item that is there already is not.
    private func add(_ record: ItemRecord, _ secret: SecretBox) throws -> Bool {
        do {
            let copy: SecretBytes? = secret.secret.duplicate()
            try session.add(record, secret: copy)
            return true
        } catch let refusal as Refusal {
            switch refusal.reason {
            case .duplicateItem: return false
            case .badParameter, .dataTooLarge, .noSuchAttribute, .unsupported, .passcodeNotSet: throw RowError(refusal.message)
            default: throw refusal
            }
        }
    }

    /// An item that is there already is left as it is; the same one with the same secret is no news.
    private func compare(_ record: ItemRecord, _ secret: SecretBox) throws -> ItemRecord {
        // The owner is named where programs are told apart.
        var query = record.namesake(ofAnyOwner: session.service.mode != .system)
        query.returnsData = true
        query.authenticationUI = .skip
        let found: [FoundEntry]
        do throws(Refusal) {
            found = try session.keychain.copyMatching(query)
        } catch {
            guard error.reason == .itemNotFound || error.reason == .interactionNotAllowed else { throw error }
            throw RowError("it exists already, and asks for you, so the two were not compared")
        }
        guard let entry = found.first(where: { $0.record?.isSameItem(as: record) ?? false }), let there = entry.record,
            let existing = entry.takeSecret()
        else {
            throw RowError("it exists already, and asks for you, so the two were not compared")
        }
        guard existing.equals(secret.secret) else { throw RowError("it exists already with another password") }
        return there
    }

    /// What the record says and the item that is there does not.
    private static func differences(_ item: PlannedItem, _ there: ItemRecord) -> [String] {
        [(AttributeName.comment, "notes"), (.label, "title")].compactMap { name, shown in
            let wanted = item.record.text(name)
            return wanted.isEmpty || wanted == there.text(name) ? nil : "\(shown): the item that is there has others"
        }
    }
}

/// All that makes an item unique but its owner; text and data of the same bytes are the same.
private struct ItemIdentity: Hashable {
    private let kind: ItemKind
    private let name: [AttributeName: [UInt8]]

    init(_ record: ItemRecord) {
        kind = record.kind
        name = record.wholeName.values.filter { $0.key != .accessGroup }.mapValues(\.equalityBytes)
    }
}
