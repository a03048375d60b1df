import VaubanRefusal
import VaubanSyncModel

/// Statements about the circle that others have followed and this device has not (Specs/sync.md, "Statements that are held back").
extension ReadingRun {
    /// Learns the statements between the last one and those that were followed before, each by the digest that the next one has of it. What
    /// the folder lacks stays unknown.
    mutating func linkStatements() throws(Refusal) {
        var number = state.statements.last
        while let mark = state.statements.unlinked(from: number), let previous = try CircleHistory.digest(before: mark, in: carrier) {
            state.statements.link(mark, to: previous)
            number = mark.number - 1
        }
        state.statements.compare(among: view.members)
    }

    /// Returns sentences about who has followed statements that this device has not, or others.
    func statementFaults() -> [String] {
        var ignored = state.statements.fresh
        // A statement that was made while this run was reading is not a fault: the next run follows it.
        if !ignored.isEmpty, (try? carrier.read(SyncFolder.name(of: view.number + 1), in: .circle)) == nil { ignored = [] }
        return state.statements.sentences(in: view, besides: ignored, remedy: carrier.remedyForMissingFiles)
    }

    /// Returns the same for a command that does not synchronize. A statement that is in the folder by now is left out, since the next run
    /// follows it.
    mutating func statementWarnings() -> [String] {
        guard !state.statements.isWhole else { return [] }
        try? linkStatements()
        let isNextThere = (try? carrier.read(SyncFolder.name(of: view.number + 1), in: .circle)) != nil
        let ignored = isNextThere ? Set(state.statements.reports.keys) : []
        return state.statements.sentences(in: view, besides: ignored, remedy: carrier.remedyForMissingFiles)
    }
}

extension StatementLedger {
    /// Returns what the user is told, without the final periods.
    /// - Parameters:
    ///   - ignored: The devices whose reports are not told.
    ///   - remedy: What can be done about missing files, as the beginning of a sentence.
    func sentences(in circle: CircleView, besides ignored: Set<[UInt8]> = [], remedy: String) -> [String] {
        let members = circle.members.filter { $0.device != circle.device }
        // A companion removes nobody.
        let removing = circle.isCompanion ? "vauban sync remove on a member" : "vauban sync remove"
        var sentences: [String] = []
        if forks[circle.device] != nil {
            sentences.append(
                "This device was put back to an earlier state, and had followed other changes of the circle before; run vauban sync "
                    + "leave, then join again")
        } else if let mark = reports[circle.device], !ignored.contains(circle.device) {
            sentences.append(
                "This device was put back to an earlier state, and the folder lacks circle/\(SyncFolder.name(of: mark.number)), which it "
                    + "had followed. \(remedy); if that does not help, run vauban sync leave, then join again")
        }
        for member in members {
            let name = SafeText.visible(member.name)
            if let number = forks[member.device] {
                sentences.append(
                    "\(name) has followed another circle/\(SyncFolder.name(of: number)) than this device: the circle was forked, or the "
                        + "folder altered; remove one of the two with \(removing), and let it join again")
            } else if let mark = reports[member.device], !ignored.contains(member.device) {
                sentences.append(
                    "\(name) has followed circle/\(SyncFolder.name(of: mark.number)), a change of the circle that this device lacks: the "
                        + "folder is not copied completely, or the change is held back. \(remedy); if that does not help, run vauban "
                        + "sync leave here, then join again, or remove \(name) with \(removing), and let it join again")
            }
        }
        return sentences
    }
}

extension SyncCircle {
    /// Throws if others have followed changes of the circle that this device has not: a further change here would be a fork.
    func requireWholeCircle() throws {
        var run = try SyncRun(self)
        try run.linkStatements()
        guard let fault = run.statementFaults().first else { return }
        throw Refusal(
            .badParameter, "Only vauban sync remove changes the circle on this device now, since another change may be missing. \(fault)"
        )
    }
}
