import VaubanKeychainWire
import VaubanSyncModel

/// What the user is told about conflicts: which change counts, and where the other one is.
enum ConflictText {
    /// How many items are named.
    private static let namesMax = 10

    static func sentences(_ run: SyncRun) -> [String] {
        let found = run.conflicts.map { name, found -> (name: String, conflict: SyncConflict) in
            let here = run.rows[name]?.shownName
            // The item was replaced, and then deleted or renamed there. Its history is with the deleted items.
            let isGone = found.conflict == .replaced && here == nil
            return (name: found.shownName ?? here ?? "", conflict: isGone ? SyncConflict.deleted : found.conflict)
        }
        let named = found.filter { !$0.name.isEmpty }.sorted { $0.name < $1.name }
        var sentences = named.prefix(namesMax).map { sentence(on: $0.name, $0.conflict) }
        let others = found.count - sentences.count
        if others > 0 {
            let (more, were) = (sentences.isEmpty ? "" : " more", others == 1 ? "was" : "were")
            let items = others == 1 ? "item" : "items"
            sentences.append("\(others)\(more) \(items) \(were) changed on two devices; the later change is kept.")
        }
        return sentences
    }

    private static func sentence(on name: String, _ conflict: SyncConflict) -> String {
        let (item, word) = (SafeText.visible(name), SafeText.word(name))
        switch conflict {
        case .replaced:
            return "\(item) was changed on two devices; the later change, of the other device, is kept. "
                + "This device's secret, if it was another one: vauban history \(word)"
        case .kept:
            return "\(item) was changed on two devices; the later change, of this device, is kept. "
                + "The other device's secret, if it was another one, is kept on that device: vauban history \(word)"
        case .deleted:
            return "\(item) was changed here, and deleted or renamed on another device. What was here is kept: vauban undelete \(word)"
        case .returned: return "\(item) was deleted or renamed here, and changed on another device later; it is back here."
        }
    }
}
