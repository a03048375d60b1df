// Uses of items that are not yet in the access log. Equal uses by one program are counted together.

internal import Logging
package import VaubanKeychainWire
internal import VaubanPlainText

/// Uses since the last records were written, in their order.
package struct PendingUses: Sendable {
    private struct Key: Hashable {
        let caller: ObjectIdentifier
        let action: AccessAction
        let outcome: AccessOutcome
        let item: [UInt8]
        let name: String
        let owner: String

        /// Omits name and owner, which distinguish few keys, since an item has one of each. Combining the array would hash it byte by byte.
        func hash(into hasher: inout Hasher) {
            hasher.combine(caller)
            hasher.combine(action)
            item.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    private struct CountedUse {
        var use: AccessUse
        var count: Int64
        var last: Int64
    }

    /// The uses of a group by processes with the same parents.
    private struct Part: Hashable {
        let group: UseGroup
        let parents: [String]
    }

    private var uses: [CountedUse] = []
    private var indices: [Key: Int] = [:]
    /// Uses that could not be recorded.
    private(set) var unrecorded: Int64 = 0
    /// Uses of canaries of which the user is told, recorded or not.
    private(set) var alerts: Int64 = 0

    package init() {}

    var isEmpty: Bool { uses.isEmpty }
    var isFull: Bool { uses.count >= KeychainLimits.logPendingUsesMax }

    /// Adds a use, or counts it if there is no room.
    package mutating func add(_ use: AccessUse) { add(CountedUse(use: use, count: use.item.count, last: use.date)) }

    private mutating func add(_ counted: CountedUse) {
        let use = counted.use
        if use.isAlert { alerts += counted.count }
        let key = Key(
            caller: ObjectIdentifier(use.caller), action: use.action, outcome: use.outcome, item: use.item.item,
            name: use.item.name, owner: use.item.owner)
        if let index = indices[key] {
            uses[index].count += counted.count
            uses[index].last = max(uses[index].last, counted.last)
            if use.item.isCanary { uses[index].use.item.isCanary = true }
            return
        }
        // Other uses leave room for canaries.
        guard !isFull || (use.isAlert && uses.count < KeychainLimits.logPendingUsesMax + KeychainLimits.logPendingAlertsMax) else {
            return addUnrecorded(counted.count)
        }
        indices[key] = uses.count
        uses.append(counted)
    }

    mutating func addUnrecorded(_ count: Int64) { unrecorded += count }

    /// Counts changes that have no log record.
    mutating func addUnrecorded(_ changes: [AccessUse]) {
        addUnrecorded(Int64(changes.count))
        for change in changes where change.isAlert { alerts += change.item.count }
    }

    /// Puts back uses that could not be written, in front of those added since.
    mutating func putBack(_ earlier: PendingUses) {
        var all = earlier
        for counted in uses { all.add(counted) }
        all.addUnrecorded(unrecorded)
        // Alerts that were not recorded count, too.
        all.alerts = earlier.alerts + alerts
        self = all
    }

    /// Returns the log records of the uses, as far as the programs' allowances permit, and the uses that must wait. Uses beyond an
    /// allowance are only counted, in the last log record of their group. A group without a log record gets a short one, but only one per
    /// second, and waits until then. Uses by processes with different parents are in different log records while the program may have more;
    /// after that they are in one, without parents. The first log record contains the number of unrecorded uses.
    package func records(within allowance: inout RecordAllowance, at now: UInt64) -> (records: [AccessRecord], held: PendingUses) {
        var drafts: [RecordDraft] = []
        // The drafts to which items are added, and the last one of each group.
        var open: [Part: Int] = [:]
        var last: [UseGroup: Int] = [:]
        var alertsTaken = 0
        var held = HeldUses()
        // An alert does not wait.
        let alerted = Set(uses.filter(\.use.isAlert).map(\.use.group))
        for counted in uses {
            let use = counted.use
            let group = use.group
            let part = Part(group: group, parents: use.caller.parents)
            var item = use.item
            item.count = counted.count
            if let own = open[part] {
                let isAdded = drafts[own].add(item, began: use.date, ended: counted.last) {
                    allowance.take($0, for: group.program, at: now)
                }
                if isAdded { continue }
            }
            // Uses that waited without a name are added to a log record with names, since one without any is shown only to who reads the
            // uses of all owners.
            if item.isFurther, let last = last[group] {
                drafts[last].sum(item, began: use.date, ended: counted.last, parents: part.parents)
                continue
            }
            let record = AccessRecord(
                began: use.date, ended: counted.last, action: group.action, outcome: group.outcome,
                unrecorded: drafts.isEmpty ? unrecorded : 0, program: group.program, parents: part.parents, items: [item])
            let draft: RecordDraft
            if let complete = Self.draft(of: record, within: &allowance, at: now) {
                draft = complete
            } else {
                if let last = last[group] {
                    // A program that has used up its allowance cannot hide a canary behind other items.
                    guard use.isAlert, alertsTaken < KeychainLimits.logAlertRecordsMax else {
                        drafts[open[part] ?? last].sum(item, began: use.date, ended: counted.last, parents: part.parents)
                        continue
                    }
                    alertsTaken += 1
                } else if !alerted.contains(group), !allowance.coversSum(of: group, at: now), held.add(counted) {
                    continue
                } else {
                    allowance.noteSum(of: group, at: now)
                }
                draft = RecordDraft(shortened: record)
            }
            open[part] = drafts.count
            last[group] = drafts.count
            drafts.append(draft)
        }
        if drafts.isEmpty {
            held.uses.unrecorded = unrecorded
            held.uses.alerts = alerts
        }
        return (drafts.map(\.record), held.uses)
    }

    /// Takes the units of a log record and returns its draft; nil if the program has fewer. If it has none, the record is not even
    /// measured.
    private static func draft(of record: AccessRecord, within allowance: inout RecordAllowance, at now: UInt64) -> RecordDraft? {
        guard allowance.hasUnits(for: record.program, at: now) else { return nil }
        let draft = RecordDraft(record)
        return allowance.take(draft.units, for: record.program, at: now) ? draft : nil
    }

    /// Uses that wait for a log record.
    private struct HeldUses {
        var uses = PendingUses()
        private var counts: [UseGroup: Int] = [:]
        /// The caller to which uses by processes with the same parents are attributed, so that equal ones are counted together.
        private var callers: [Part: AccessCaller] = [:]
        /// The caller to which the uses of a group that are only counted are attributed.
        private var counting: [UseGroup: AccessCaller] = [:]

        /// Adds a use: as many of a group as a log record can name, and the number of further ones. Returns false if too many wait already.
        mutating func add(_ counted: CountedUse) -> Bool {
            guard uses.uses.count < KeychainLimits.logHeldUsesMax else { return false }
            let group = counted.use.group
            if counts[group, default: 0] < AccessRecord.itemsMax - 1, uses.uses.count < KeychainLimits.logHeldNamesMax {
                let part = Part(group: group, parents: counted.use.caller.parents)
                let caller = callers[part] ?? counted.use.caller
                callers[part] = caller
                let use = AccessUse(
                    caller: caller, action: group.action, outcome: group.outcome, item: counted.use.item, date: counted.use.date)
                let before = uses.uses.count
                uses.add(CountedUse(use: use, count: counted.count, last: counted.last))
                counts[group, default: 0] += uses.uses.count - before
                return true
            }
            let caller = counting[group] ?? AccessCaller(group.program)
            counting[group] = caller
            let further = AccessUse(
                caller: caller, action: group.action, outcome: group.outcome, item: .further(counted.count), date: counted.use.date)
            uses.add(CountedUse(use: further, count: counted.count, last: counted.last))
            return true
        }
    }
}

extension AccessRecord {
    /// Whether the user is told of the record.
    var causesAlert: Bool { [.read, .changed, .deleted].contains(action) && items.contains(where: \.isCanary) }

    /// What the journal says of a record, without the names of items.
    var journalLine: Logger.Metadata {
        // Not by interpolating the cases, whose names Swift looks up by reflection: that took longer than all else in this line.
        var line: Logger.Metadata = [
            "action": .string(action.journalWord), "outcome": .string(outcome.journalWord), "items": .string(String(items.count)),
        ]
        if let program { line["program"] = "\(PlainLine.path(program.path, charactersMax: 200))" }
        return line
    }
}
