import Glibc
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// Moves the items of one keychain into another, one by one. Each item is one add, and existing items are compared, so that after a kill
/// at any point each item is whole in the old keychain, and whole or absent in the new one.
struct AdoptionRun {
    private let old: ServiceClient
    private let new: ServiceClient
    private var journal: AdoptionJournal
    private let progress = Progress()
    private(set) var moved = 0
    private(set) var skipped = 0
    private(set) var stayed = 0
    /// The moved items, by their state in the old keychain.
    private(set) var adopted: [LegacyItem.Stamp: AdoptedItem] = [:]

    private static let progressStep = 25

    init(from old: ServiceClient, to new: ServiceClient, _ journal: AdoptionJournal) {
        self.old = old
        self.new = new
        self.journal = journal
    }

    mutating func run(_ items: [LegacyItem]) throws {
        defer { progress.clear() }
        for (index, item) in items.enumerated() {
            let record = item.record
            if index % Self.progressStep == 0, index > 0 { progress.show("Moving: \(index) of \(items.count)") }
            do {
                let identity = try take(record)
                adopted[item.stamp] = AdoptedItem(old: item.stamp, kind: record.kind, new: identity)
            } catch let stays as SkipReason {
                reportNotMoved(record, stays.why)
            } catch let refusal as Refusal where Self.concernsOne(refusal, record) {
                reportNotMoved(record, refusal.message)
            } catch {
                progress.clear()
                say("Stopped at \(record.name) after \(moved) moved. Nothing is lost; run vauban adopt again.")
                throw error
            }
        }
    }

    /// Reports what `run` would do, without reading or storing a value. Whether an item that is here has the same secret is compared only
    /// when it is moved.
    mutating func plan(_ items: [LegacyItem]) throws {
        var planned: [ItemKind: Set<ItemAttributes>] = [:]
        for record in items.map(\.record) {
            let wanted = record.asMine
            do {
                try Self.throwIfOfProgram(record)
                let isNew = planned[record.kind, default: []].insert(wanted.wholeName).inserted
                let there = isNew ? try find(wanted, in: new, reason: nil)?.record : wanted
                guard let there else {
                    moved += 1
                    print("Would move: \(record.shownWithOwner)")
                    continue
                }
                guard isNew, there.isCopy(of: wanted) else { throw Self.nameIsTaken }
                skipped += 1
                print("Already here: \(record.shownWithOwner)")
            } catch let stays as SkipReason {
                stayed += 1
                print("Would not move: \(record.shownWithOwner): \(stays.why)")
            }
        }
    }

    private static func throwIfOfProgram(_ record: ItemRecord) throws(SkipReason) {
        if record.accessControl?.needsApplicationPassword == true {
            throw SkipReason("it opens only with the password of its program; let that program store it again")
        }
    }

    private static let nameIsTaken = SkipReason("an item of this name is already here, with other attributes or another protection")

    private mutating func reportNotMoved(_ record: ItemRecord, _ why: String) {
        stayed += 1
        progress.clear()
        say("Not moved: \(record.shownWithOwner): \(why)")
    }

    /// Whether a refusal concerns this item alone. A wrong passcode does not, since each attempt counts.
    private static func concernsOne(_ refusal: Refusal, _ record: ItemRecord) -> Bool {
        switch refusal.reason {
        case .badParameter, .dataTooLarge, .noSuchAttribute, .unsupported, .applicationPasswordMissing: true
        case .cancelled, .fallbackChosen, .userTimedOut, .interactionNotAllowed, .noPromptAgent, .passcodeNotSet, .biometryNotAvailable,
            .biometryNotEnrolled, .biometryLockedOut:
            record.needsApproval
        default: false
        }
    }

    /// Moves one item and returns its identity in the new keychain.
    private mutating func take(_ record: ItemRecord) throws -> [UInt8] {
        try Self.throwIfOfProgram(record)
        let wanted = record.asMine
        let before = try find(wanted, in: new, reason: nil)
        if let there = before?.record {
            guard there.isCopy(of: wanted) else { throw Self.nameIsTaken }
            if journal.holds(record, as: there), let identity = before?.reference { skipped += 1; return identity }
        }
        guard let entry = try find(record, in: old, reason: "move \(record.name) from the old keychain") else {
            throw SkipReason("it was deleted in the meantime")
        }
        let secret: SecretBytes? = entry.takeSecret()
        if before == nil { _ = try new.withUnlock { try new.keychain.add(wanted, secret: secret) } }
        // Compare what the new keychain returns.
        let after = try find(wanted, in: new, reason: "compare \(record.name) with the old keychain's")
        guard let after, let there = after.record, let identity = after.reference, there.isCopy(of: wanted),
            Self.same(secret, after.takeSecret())
        else {
            throw SkipReason(
                before == nil ? "it does not read back unchanged" : "an item of this name is already here, with another secret")
        }
        if record.needsApproval { try journal.keep(record, as: there) }
        if before == nil { moved += 1 } else { skipped += 1 }
        return identity
    }

    /// Returns the item with exactly this record's name, or nil. Without a reason, returns only attributes and shows no prompt.
    private func find(_ record: ItemRecord, in client: ServiceClient, reason: String?) throws -> ReceivedItem? {
        var query = record.namesake(ofAnyOwner: false)
        query.returns.insert(.reference)
        if reason != nil { query.returns.insert(.data) }
        query.operationPrompt = reason.map { SafeText.line($0, max: 150) }
        query.authenticationUI =
            reason == nil ? .describe : client.user.mayBePrompted || client.user.hasPreparedPasscode ? .allow : .fail
        let wanted = query
        do {
            let found =
                record.needsApproval && reason != nil
                ? try client.withUnlock { try client.withPrompts { try client.keychain.copyMatching(wanted, waiting: $0) } }
                : try client.withUnlock { try client.keychain.copyMatching(wanted) }
            return found.first
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            return nil
        }
    }

    private static func same(_ one: borrowing SecretBytes?, _ other: borrowing SecretBytes?) -> Bool {
        switch one {
        case .none:
            switch other {
            case .none: return true
            case .some: return false
            }
        case .some(let mine):
            switch other {
            case .none: return false
            case .some(let theirs): return mine.equals(theirs)
            }
        }
    }
}

extension ItemRecord {
    /// The item as the user's own in the installed keychain, without its dates, which each keychain sets itself.
    fileprivate var asMine: ItemRecord {
        var mine = self
        mine.attributes[.accessGroup] = .text(AccessGroup.commandLine)
        mine.attributes[.creationDate] = nil
        mine.attributes[.modificationDate] = nil
        return mine
    }

    /// Whether two records are equal except for dates and secret.
    fileprivate func isCopy(of other: ItemRecord) -> Bool {
        let (mine, theirs) = (asMine.attributes.merging(asMine.wholeName), other.asMine.attributes.merging(other.asMine.wholeName))
        return kind == other.kind && mine == theirs && protection == other.protection && accessControl == other.accessControl
    }

    /// The name, with the owner if that is a program.
    var shownWithOwner: String {
        [AccessGroup.commandLine, AccessGroup.unsigned].contains(owner) ? name : "\(name) (of \(SafeText.visible(owner)))"
    }
}
