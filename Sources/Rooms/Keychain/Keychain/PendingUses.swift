// Uses of items that are not yet in the access log. Equal ones of one program are counted.

internal import Logging
package import VaubanKeychainWire
internal import VaubanPlainText

/// A program that uses the keychain on one connection.
package final class AccessCaller: Sendable {
    /// Nil where programs are not distinguished.
    let program: AccessProgram?
    /// The executables of the processes above it, as a log record has them.
    let parents: [String]

    package init(_ program: AccessProgram?, parents: [String] = []) {
        self.program = program
        self.parents = parents
    }
}

/// A use of an item.
package struct AccessUse: Sendable {
    let caller: AccessCaller
    let action: AccessAction
    let outcome: AccessOutcome
    var item: UsedItem
    /// Microseconds since the reference date.
    let date: Int64

    package init(caller: AccessCaller, action: AccessAction, outcome: AccessOutcome, item: UsedItem, date: Int64) {
        self.caller = caller
        self.action = action
        self.outcome = outcome
        self.item = item
        self.date = date
    }

    /// Whether the user is told of it: a canary that was read, changed or deleted, or that somebody tried to.
    var isAlert: Bool { item.isCanary && [.read, .changed, .deleted].contains(action) }
}

/// Uses since the last records were written, in their order.
struct PendingUses {
    private struct Key: Hashable {
        let caller: ObjectIdentifier
        let action: AccessAction
        let outcome: AccessOutcome
        let item: [UInt8]
        let name: String
        let owner: String
    }

    private struct CountedUse {
        var use: AccessUse
        var count: Int64
        var last: Int64
    }

    private struct Group: Hashable {
        let program: AccessProgram?
        let action: AccessAction
        let outcome: AccessOutcome
    }

    /// The uses of a group by processes with the same parents.
    private struct Part: Hashable {
        let group: Group
        let parents: [String]
    }

    private var uses: [CountedUse] = []
    private var indices: [Key: Int] = [:]
    /// Uses that could not be recorded.
    private(set) var unrecorded: Int64 = 0
    /// Uses of canaries of which the user is told, recorded or not.
    private(set) var alerts: Int64 = 0

    var isEmpty: Bool { uses.isEmpty }
    var isFull: Bool { uses.count >= KeychainLimits.logPendingUsesMax }

    /// Adds a use, or counts it if there is no room.
    mutating func add(_ use: AccessUse) { add(CountedUse(use: use, count: use.item.count, last: use.date)) }

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

    /// Puts back what could not be written, in front of what was added since.
    mutating func putBack(_ earlier: PendingUses) {
        var all = earlier
        for counted in uses { all.add(counted) }
        all.addUnrecorded(unrecorded)
        // Those that were not recorded count, too.
        all.alerts = earlier.alerts + alerts
        self = all
    }

    /// Returns the log records of the uses, as many as the programs may have; each has one at least. What goes beyond is a number in the
    /// last log record of its group. Uses by processes with different parents are in different ones while the program may have more; after
    /// that they are together, without parents. The first one has the number of uses that are not recorded.
    func records(within allowance: inout RecordAllowance, at now: UInt64) -> [AccessRecord] {
        var records: [AccessRecord] = []
        // The log records to which items are added, and the last one of each group.
        var open: [Part: Int] = [:]
        var last: [Group: Int] = [:]
        var alertsTaken = 0
        for counted in uses {
            let use = counted.use
            let group = Group(program: use.caller.program, action: use.action, outcome: use.outcome)
            let part = Part(group: group, parents: use.caller.parents)
            var item = use.item
            item.count = counted.count
            if let last = last[group] {
                if let own = open[part], records[own].add(item, began: use.date, ended: counted.last) { continue }
                let mayTake = allowance.take(for: group.program, at: now)
                // A program that has used up its log records does not hide a canary behind them.
                if !mayTake, use.isAlert, alertsTaken < KeychainLimits.logAlertRecordsMax {
                    alertsTaken += 1
                } else if !mayTake {
                    let index = open[part] ?? last
                    if records[index].parents != part.parents { records[index].parents = [] }
                    if !records[index].add(item, began: use.date, ended: counted.last) {
                        records[index].addFurther(item.count, ended: counted.last)
                    }
                    continue
                }
            } else {
                _ = allowance.take(for: group.program, at: now)
            }
            open[part] = records.count
            last[group] = records.count
            records.append(
                AccessRecord(
                    began: use.date, ended: counted.last, action: group.action, outcome: group.outcome, program: group.program,
                    parents: part.parents, items: [item]))
        }
        if !records.isEmpty { records[0].unrecorded = unrecorded }
        return records
    }
}

extension AccessRecord {
    /// Adds an item. Returns false if there is no room; the last place is for further ones.
    fileprivate mutating func add(_ item: UsedItem, began: Int64, ended: Int64) -> Bool {
        if let index = items.firstIndex(where: { $0.item == item.item && $0.name == item.name && $0.owner == item.owner }) {
            items[index].count += item.count
            if item.isCanary { items[index].isCanary = true }
        } else {
            guard items.count < Self.itemsMax - 1 else { return false }
            items.append(item)
        }
        self.began = min(self.began, began)
        self.ended = max(self.ended, ended)
        return true
    }

    /// Adds the uses of items that are not named.
    fileprivate mutating func addFurther(_ count: Int64, ended: Int64) {
        if items.last?.isFurther == true {
            items[items.count - 1].count += count
        } else {
            items.append(.further(count))
        }
        self.ended = max(self.ended, ended)
    }

    /// Whether the user is told of the record.
    var tellsOfCanary: Bool { [.read, .changed, .deleted].contains(action) && items.contains(where: \.isCanary) }

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
