// From nobody to an owner: what was kept before callers had identities, or by callers without one. Nothing but the rows says
// how far it has come, so it goes on after any kill.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanKeychainWire

extension RequestInProgress {
    /// One batch of the rows of the group `unsigned`. Each batch asks the person, unless they have said yes until the lock.
    func move(to owner: String) throws {
        let rights = try rights()
        guard !rights.ownsEverything else { throw Refusal(.notAllowedHere, "in user mode every program of yours is one owner") }
        guard rights.isCommandLine else { throw Refusal(.notAllowedHere, "items are given to another owner with the program vauban") }
        guard Self.isOwner(owner) else { throw Refusal(.badParameter, "an owner is cli, or an application such as program:/usr/bin/name") }
        let yes = RememberedConsent(key: "move to \(owner)", item: [])
        if !parts.lent.remembers(yes, of: person) {
            try ask(Consent(.moveItems, offered: .once, item: "all that belong to nobody", owner: AccessGroup.unsigned, program: owner))
            parts.lent.remember(yes, of: person)
        }
        var progress = RewrapProgress(done: 0, left: 0, kept: 0)
        for kind in ItemKind.allCases { try move(kind, to: owner, &progress) }
        try sink.send(.rewrapped(progress))
        try sink.send(.done)
    }

    private static func isOwner(_ owner: String) -> Bool {
        owner == AccessGroup.commandLine || ["program:/", "flatpak:", "snap:", "build:"].contains { owner.hasPrefix($0) && owner != $0 }
    }

    private func move(_ kind: ItemKind, to owner: String, _ progress: inout RewrapProgress) throws {
        let terms = SearchTerms(kind: kind, attributes: ItemAttributes([.accessGroup: .text(AccessGroup.unsigned)]), protection: nil)
        var counts = progress
        let selection = try selection(terms, of: [])
        guard !selection.usesDeviceIndex else { throw Refusal(.beforeFirstUnlock) }
        try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
            guard counts.done < KeychainLimits.moveRowsMax else {
                counts.left += 1
                return true
            }
            do {
                guard let opened = try open(row), terms.match(opened.record.attributes) else { return true }
                if try give(opened, to: owner) { counts.done += 1 } else { counts.kept += 1 }
            } catch let refusal as Refusal where [.locked, .cancelled].contains(refusal.reason) {
                counts.kept += 1
            }
            return true
        }
        progress = counts
    }

    /// The item key is bound to the group, so the value is sealed anew; one that asks for the person asks
    /// them, and one that needs its application's password stays.
    private func give(_ opened: OpenedRow, to owner: String) throws -> Bool {
        guard opened.binding.accessControl?.needsApplicationPassword != true else { return false }
        var record = opened.record
        record.attributes[.accessGroup] = .text(owner)
        let generation = try keys.generationToWrite(record.protection)
        let binding = try binding(record, item: opened.binding.item, generation: generation)
        guard let value = try openValue(of: opened, reason: "give it to \(owner)", mayAsk: true) else { return true }
        let row = try row(record, binding, try seal(value, binding), try blinds(record))
        switch try database.update([RowChange(old: opened.row.handle, row: row, changesBlinds: true)]) {
        case .written: return true
        case .stale: throw RowHasChanged()
        // The owner has one of this name already.
        case .conflict: return false
        }
    }
}
