// From nobody to an owner: what was kept before callers had identities, or by callers without one. Nothing but the rows says
// how far it has come, so it goes on after any kill.

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
    /// One batch of the rows of the group `unsigned`. Each batch asks the user, unless they have said yes until the lock.
    func move(to owner: String) throws {
        let rights = try rights()
        guard !rights.ownsEverything else { throw Refusal(.notAllowedHere, "in user mode every program of yours is one owner") }
        guard rights.isCommandLine else { throw Refusal(.notAllowedHere, "items are given to another owner with the program vauban") }
        guard Self.isOwner(owner) else { throw Refusal(.badParameter, "an owner is cli, or an application such as program:/usr/bin/name") }
        let key = Array(owner.utf8)
        if caller.said.moves.withLock({ $0[key] == nil }) {
            try ask(Consent(.moveItems, offered: .once, item: "all that belong to nobody", owner: AccessGroup.unsigned, program: owner))
        }
        var move = caller.said.moves.withLock { $0[key] } ?? ItemMove()
        var progress = RewrapProgress(done: 0, left: 0, kept: 0)
        for kind in ItemKind.allCases { try carry(kind, to: owner, &move, &progress) }
        progress.kept = move.kept.count
        caller.said.moves.withLock { $0[key] = move }
        try sink.send(.rewrapped(progress))
        try sink.send(.done)
    }

    static func isOwner(_ owner: String) -> Bool {
        owner.isSameBytes(as: AccessGroup.commandLine) || ApplicationIdentifier(text: owner).isWellFormed
    }

    private func carry(_ kind: ItemKind, to owner: String, _ move: inout ItemMove, _ progress: inout RewrapProgress) throws {
        let terms = SearchTerms(kind: kind, attributes: ItemAttributes([.accessGroup: .text(AccessGroup.unsigned)]), protection: nil)
        let selection = try selection(terms, of: [])
        guard !selection.usesDeviceIndex else { throw Refusal(.beforeFirstUnlock) }
        var (state, done) = (move, progress.done)
        if done < KeychainLimits.moveRowsMax {
            try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
                guard !state.kept.contains(row.item) else { return true }
                do {
                    guard let opened = try open(row), terms.match(opened.record.attributes) else { return true }
                    if try give(opened, to: owner, mayAsk: state.mayAsk) { done += 1 } else { state.kept.insert(row.item) }
                } catch let refusal as Refusal where !refusal.reason.isPassing {
                    // Whatever stands in the way of this one stands there at the next try too. A no to one is a no to all.
                    state.kept.insert(row.item)
                    if refusal.reason.isTheUsers { state.mayAsk = false }
                }
                return done < KeychainLimits.moveRowsMax
            }
        }
        (move, progress.done) = (state, done)
        // What has moved has left the group.
        guard done >= KeychainLimits.moveRowsMax else { return }
        let kept = state.kept
        progress.left += try database.handles(of: selection).count { handle in
            (try? RowBinding(derBytes: handle.metadataBinding)).map { !kept.contains($0.item) } ?? true
        }
    }

    /// The item key is bound to the group, so the value is sealed anew; one that asks for the user asks
    /// them, and one that needs its application's password stays.
    private func give(_ opened: OpenedRow, to owner: String, mayAsk: Bool) throws -> Bool {
        guard opened.binding.accessControl?.needsApplicationPassword != true else { return false }
        var record = opened.record
        record.attributes[.accessGroup] = .text(owner)
        let generation = try keys.generationToWrite(record.protection)
        let binding = try binding(record, item: opened.binding.item, generation: generation)
        guard let value = try openValue(of: opened, reason: "give it to \(owner)", mayAsk: mayAsk) else { return true }
        let row = try row(record, binding, try seal(value, binding), try blinds(record))
        switch try database.update([RowChange(old: opened.row.handle, row: row, changesBlinds: true, newOwner: owner)]) {
        case .written: return true
        case .stale, .retired: throw RowHasChanged()
        // The owner has one of this name already.
        case .conflict: return false
        }
    }
}

/// How far a connection has come with giving items to one owner.
struct ItemMove: Sendable {
    /// Items that stay, whatever stood in their way.
    var kept: Set<[UInt8]> = []
    var mayAsk = true
}

extension Refusal.Reason {
    /// Whether it is what the user said, or that they said nothing.
    fileprivate var isTheUsers: Bool {
        [.cancelled, .fallbackChosen, .authenticationFailed, .userTimedOut, .noPromptAgent].contains(self)
    }

    /// Whether the same may go well at another time, without anyone's doing.
    fileprivate var isPassing: Bool { [.unavailable, .keysChanged, .storageFailed, .storageFull, .stateUnreadable].contains(self) }
}
