import Glibc
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// An import of records into the keychain, one by one. Each item is one atomic add.
struct ImportRun {
    private let client: ServiceClient
    private let isDryRun: Bool
    private let protectsNotes: Bool
    private let progress = Progress()
    /// Whether the report at the end is on the user's terminal, so that a line of it is not shown before, too.
    private let isReportShown = isatty(STDOUT_FILENO) == 1
    private(set) var report: ImportReport
    /// The primary keys of the items that existed before, and the items of this run. They replace a search for each record.
    private let known: Set<ItemIdentity>
    private var taken: [ItemIdentity: ItemRecord] = [:]
    private var names = ImportNames()
    /// The total number for the progress line.
    var total: Int?

    /// Unlocks the keychain if it is locked, and lists the existing items.
    init(_ client: ServiceClient, isDryRun: Bool = false, protectsNotes: Bool = false) throws {
        self.client = client
        self.isDryRun = isDryRun
        self.protectsNotes = protectsNotes
        report = ImportReport(isDryRun: isDryRun)
        try client.openNow()
        var known: Set<ItemIdentity> = []
        for kind in [ItemKind.genericPassword, .internetPassword] {
            for record in try client.described(kind).compactMap(\.record) {
                // If the service does not distinguish programs, another program's item counts as the same item.
                if client.service.mode == .system, record.owner != AccessGroup.commandLine { continue }
                known.insert(ItemIdentity(record))
            }
        }
        self.known = known
    }

    /// Imports one record of another password manager. A record that cannot be imported is reported and does not stop the others.
    mutating func take(_ place: SourcePlace, _ read: () throws(SkipReason) -> SourceRecord) throws {
        show()
        let plan: ImportPlan
        do throws(SkipReason) {
            plan = try ImportPlan(try read(), protectsNotes: protectsNotes)
        } catch {
            return refuse(place, error)
        }
        var noted = RecordReport(
            line: place.line, source: place.name, item: plan.items[0].record.name, outcome: .present, carried: plan.carried,
            changed: plan.changed, left: plan.left)
        let named: [ImportNames.Named]
        do throws(SkipReason) {
            named = try names.name(plan.items, group: plan.group)
        } catch {
            return refuse(&noted, error)
        }
        var hasCodes = false
        for (index, part) in named.enumerated() {
            let item = part.item
            if index == 0 { noted.item = item.record.name }
            do {
                let taken = try withStopReported(at: place) { run in try run.take(item) }
                if taken.isNew { noted.outcome = .added }
                if item.role == .codes { hasCodes = true }
                if part.isRenamed { noted.changed.append("name: taken by another item; this one is \(item.record.name)") }
                noted.left += taken.left
            } catch let fault as SkipReason {
                // Attached items are useless without the main item, but not the other way round.
                if index == 0 {
                    if item.record.kind == .internetPassword { names.withdraw(named) }
                    return refuse(&noted, fault)
                }
                noted.reason = noted.reason ?? "its \(item.role.shown): \(fault.why)"
                noted.left.append(item.role.shown)
                if item.role == .fields { noted.carried.removeAll { $0.hasSuffix("(protected)") } }
            }
        }
        if plan.items.contains(where: { $0.role == .codes }), !hasCodes { noted.carried.removeAll { $0 == "one-time codes" } }
        note(noted)
    }

    /// Imports one complete item from a document, an export of this program or another provider. `isTransferred` means that its comment
    /// describes its origin.
    mutating func takeWhole(
        _ place: SourcePlace, record: ItemRecord, secret: borrowing SecretBytes, isTransferred: Bool = false
    ) throws {
        show()
        // This keychain sets the dates itself.
        var record = record
        record.attributes[.creationDate] = nil
        record.attributes[.modificationDate] = nil
        let item = PlannedItem(
            role: .document, record: record, secret: SecretBox(secret.duplicate()), hasOwnComment: !isTransferred,
            hasOwnProtection: !isTransferred)
        var noted = RecordReport(
            line: place.line, source: place.name, item: record.name, outcome: .present, carried: ["password", "all attributes"])
        var named: [ImportNames.Named] = []
        do {
            named = try names.name([item], group: nil)
            let taken = try withStopReported(at: place) { run in try run.take(item) }
            if taken.isNew { noted.outcome = .added }
            noted.left += taken.left
        } catch let fault as SkipReason {
            names.withdraw(named)
            return refuse(&noted, fault)
        }
        note(noted)
    }

    /// Reports a record that cannot be read.
    mutating func refuse(_ place: SourcePlace, _ fault: SkipReason) {
        note(RecordReport(line: place.line, source: place.name, item: "", outcome: .notTaken, reason: fault.why))
    }

    /// Reports a record whose main item was not taken.
    private mutating func refuse(_ noted: inout RecordReport, _ fault: SkipReason) {
        noted.outcome = .notTaken
        (noted.carried, noted.changed, noted.left) = ([], [], [])
        noted.reason = fault.why
        note(noted)
    }

    /// Adds the record of a collection of the Secret Service. It appears in the report only if it cannot be added; an existing one stays
    /// unchanged.
    mutating func takeCollection(_ record: ItemRecord) throws {
        let record = record.asOwn
        guard !isDryRun, !known.contains(ItemIdentity(record)) else { return }
        do { _ = try add(record, SecretBox(SecretBytes(copying: []))) } catch let fault as SkipReason {
            refuse(.file(record.name), fault)
        }
    }

    /// Prints a sentence between the progress lines.
    func announce(_ sentence: String) {
        progress.clear()
        say(sentence)
    }

    func finish() { progress.clear() }

    private mutating func note(_ record: RecordReport) {
        report.note(record)
        guard record.reason != nil, !isReportShown else { return }
        progress.clear()
        sayHead(of: record)
    }

    private func sayHead(of record: RecordReport) {
        for line in record.lines(isDryRun: isDryRun).prefix(1) { say(line) }
    }

    private func show() {
        let done = report.records.count
        if done % 100 == 0, done > 0 { progress.show("Importing: \(done)\(total.map { " of \($0)" } ?? "")") }
    }

    /// Runs work. An error that does not concern one record, such as a keychain that was locked in the meantime, ends the import and is
    /// reported with its place.
    private mutating func withStopReported<Result>(at place: SourcePlace, _ work: (inout ImportRun) throws -> Result) throws -> Result {
        do { return try work(&self) } catch {
            guard !(error is SkipReason) else { throw error }
            progress.clear()
            // The report that has these lines is not printed.
            if isReportShown { for record in report.records where record.reason != nil { sayHead(of: record) } }
            say("The import stopped at \(place.name); added before: \(count(report.added, "item")).")
            throw error
        }
    }

    // MARK: One item

    private struct Taken {
        var isNew = false
        var left: [String] = []
    }

    /// Adds the item if it is not in the keychain. An item of the same name that was taken before has the same secret (`ImportNames`).
    private mutating func take(_ item: PlannedItem) throws -> Taken {
        let record = item.record.asOwn
        let identity = ItemIdentity(record)
        if let earlier = taken[identity] { return Taken(left: Self.differences(item, earlier)) }
        do { try CodeCounter.checkIsLocal(record, item.secret.secret) } catch let refusal as Refusal { throw SkipReason(refusal.message) }
        var result = Taken()
        if known.contains(identity) {
            result.left = Self.differences(item, try compare(record, item.secret))
        } else if isDryRun {
            result.isNew = true
        } else if try add(record, item.secret) {
            result.isNew = true
        } else {
            result.left = Self.differences(item, try compare(record, item.secret))
        }
        taken[identity] = record
        return result
    }

    /// Adds an item and returns true, or returns false if it exists.
    private func add(_ record: ItemRecord, _ secret: SecretBox) throws -> Bool {
        do {
            let copy: SecretBytes? = secret.secret.duplicate()
            try client.add(record, secret: copy)
            return true
        } catch let refusal as Refusal {
            switch refusal.reason {
            case .duplicateItem: return false
            case .badParameter, .dataTooLarge, .noSuchAttribute, .unsupported, .passcodeNotSet: throw SkipReason(refusal.message)
            default: throw refusal
            }
        }
    }

    /// Compares with an existing item, which stays unchanged; one with the same secret is not reported.
    private func compare(_ record: ItemRecord, _ secret: SecretBox) throws -> ItemRecord {
        // The query names the owner if the service distinguishes programs.
        var query = record.namesake(ofAnyOwner: client.service.mode != .system)
        query.returns.insert(.data)
        query.authenticationUI = .skip
        let found: [ReceivedItem]
        do throws(Refusal) {
            found = try client.keychain.copyMatching(query)
        } catch {
            guard error.reason == .itemNotFound || error.reason == .interactionNotAllowed else { throw error }
            throw SkipReason("it already exists and needs your approval, so the two were not compared")
        }
        guard let entry = found.first(where: { $0.record?.isSameItem(as: record) ?? false }), let there = entry.record,
            let existing = entry.takeSecret()
        else {
            throw SkipReason("it already exists and needs your approval, so the two were not compared")
        }
        guard existing.equals(secret.secret) else { throw SkipReason("it already exists with another password") }
        return there
    }

    /// Returns what the record contains and the existing item does not.
    private static func differences(_ item: PlannedItem, _ there: ItemRecord) -> [String] {
        ImportDifferences.of(item.record, from: there, ignoring: item.ownAttributes, comparesProtection: item.hasOwnProtection)
    }
}
