// Gives unsigned items to an owner: items that were stored before callers had identities, or by callers without one. The rows themselves
// record the progress, so the move continues after a kill at any point.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanUserModel

extension RequestInProgress {
    /// Gives one batch of unsigned items to an owner. The first batch of a connection prompts the user, whose
    /// consent is valid for the connection.
    func move(to owner: String) throws {
        let rights = try rights()
        guard !rights.ownsEverything else { throw Refusal(.notAllowedHere, "In user mode every program of yours is one owner") }
        guard rights.isCommandLine else { throw Refusal(.notAllowedHere, "Items are given to another owner with the vauban command") }
        guard Self.isOwner(owner) else { throw Refusal(.badParameter, "An owner is cli, or an application such as program:/usr/bin/name") }
        let key = Array(owner.utf8)
        if caller.consents.moves.withLock({ $0[key] == nil }) {
            try ask(Consent(.moveItems, offered: .once, item: "all items without an owner", owner: AccessGroup.unsigned, program: owner))
        }
        var move = caller.consents.moves.withLock { $0[key] } ?? ItemMove()
        var progress = RewrapProgress(done: 0, left: 0, kept: 0)
        for kind in ItemKind.allCases { try carry(kind, to: owner, move: &move, progress: &progress) }
        progress.kept = move.kept.count
        caller.consents.moves.withLock { $0[key] = move }
        try sink.send(.rewrapped(progress))
        try sink.send(.done)
    }

    static func isOwner(_ owner: String) -> Bool {
        owner.isSameBytes(as: AccessGroup.commandLine) || ApplicationIdentifier(text: owner).isWellFormed
    }

    private func carry(_ kind: ItemKind, to owner: String, move: inout ItemMove, progress: inout RewrapProgress) throws {
        let terms = SearchTerms(kind: kind, attributes: ItemAttributes([.accessGroup: .text(AccessGroup.unsigned)]), protection: nil)
        let selection = try selection(terms, of: [])
        guard !selection.usesDeviceIndex else { throw Refusal(.beforeFirstUnlock) }
        var (state, done) = (move, progress.done)
        if done < KeychainLimits.moveRowsMax {
            try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
                guard !state.kept.contains(row.item) else { return true }
                do {
                    guard let opened = try open(row), terms.match(opened.record.attributes) else { return true }
                    if try give(opened, to: owner, mayPrompt: state.mayPrompt) { done += 1 } else { state.kept.insert(row.item) }
                } catch let refusal as Refusal where !refusal.reason.isPassing {
                    // A refusal for this item would repeat at the next attempt. If the user refuses one item, they have refused all.
                    state.kept.insert(row.item)
                    if refusal.reason.isTheUsers { state.mayPrompt = false }
                }
                return done < KeychainLimits.moveRowsMax
            }
        }
        (move, progress.done) = (state, done)
        // Items that were moved are no longer in the group.
        guard done >= KeychainLimits.moveRowsMax else { return }
        let kept = state.kept
        var left = 0
        try database.forEachHandle(of: selection) { handle in
            if (try? RowBinding(derBytes: handle.metadataBinding)).map({ !kept.contains($0.item) }) ?? true { left += 1 }
            return true
        }
        progress.left += left
    }

    /// Gives one item to the owner. The item key is bound to the group, so the value is sealed again. An item whose access control needs
    /// the user causes a prompt; one that needs its application password stays.
    private func give(_ opened: OpenedRow, to owner: String, mayPrompt: Bool) throws -> Bool {
        guard opened.binding.accessControl?.needsApplicationPassword != true else { return false }
        var record = opened.record
        record.attributes[.accessGroup] = .text(owner)
        record.attributes[.modificationDate] = .date(nextDate(after: record.attributes[.modificationDate]))
        let generation = try keys.generationToWrite(record.protection)
        let binding = try binding(record, item: opened.binding.item, generation: generation)
        guard let value = try openValue(of: opened, reason: "give it to \(owner)", mayPrompt: mayPrompt) else { return true }
        let row = try row(
            of: record, isCanary: opened.isCanary, binding: binding, secret: try seal(value, binding), blinds: try blinds(record))
        let change = RowChange(old: opened.row.handle, row: row, changesBlinds: true, newOwner: owner)
        switch try withLogRecords(
            of: .changed, [opened.used, opened.used(as: record)], { try database.update([change], appending: $0) })
        {
        case .written: return true
        case .stale, .retired: throw RowHasChanged()
        // The owner already has an item of this name.
        case .conflict: return false
        }
    }
}

/// The progress of a connection that gives items to one owner.
struct ItemMove: Sendable {
    /// Items that stay, for any reason.
    var kept: Set<[UInt8]> = []
    var mayPrompt = true
}

extension Refusal.Reason {
    /// Whether the user refused or did not answer.
    fileprivate var isTheUsers: Bool {
        [.cancelled, .fallbackChosen, .authenticationFailed, .userTimedOut, .noPromptAgent].contains(self)
    }

    /// Whether the same request may succeed later by itself.
    fileprivate var isPassing: Bool { [.unavailable, .keysChanged, .storageFailed, .storageFull, .stateUnreadable].contains(self) }
}
