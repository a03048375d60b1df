import VaubanKeychainWire
import VaubanSyncModel

/// What the user is told about conflicts: which changes count, and where the others are.
enum ConflictText {
    /// How many items are named.
    private static let namesMax = 10

    static func sentences(_ run: SyncRun) -> [String] {
        let found = run.conflicts.map { name, found -> (name: String, conflict: SyncConflict, result: FoundConflict.Result?) in
            let here = run.rows[name]?.shownName
            // The item was replaced, and then deleted or renamed there. Its history is with the deleted items.
            let isGone = found.conflict == .replaced && here == nil
            return (found.shownName ?? here ?? "", isGone ? .deleted : found.conflict, isGone ? nil : found.result)
        }
        let named = found.filter { !$0.name.isEmpty }.sorted { $0.name < $1.name }
        var sentences = named.prefix(namesMax).map { sentence(on: $0.name, $0.conflict, $0.result) }
        let others = found.count - sentences.count
        if others > 0 {
            let (more, were) = (sentences.isEmpty ? "" : " more", others == 1 ? "was" : "were")
            let items = others == 1 ? "item" : "items"
            sentences.append(
                "\(others)\(more) \(items) \(were) changed on two devices; where both changed the same, the later change is kept.")
        }
        return sentences
    }

    /// Returns the sentences on one conflict.
    /// - Parameter result: How the changes were merged; nil if the later one counts for the whole item.
    static func sentence(on name: String, _ conflict: SyncConflict, _ result: FoundConflict.Result?) -> String {
        let (item, word) = (SafeText.visible(name), SafeText.word(name))
        let lost = result.map { $0.contested.map(\.shown) }
        switch conflict {
        case .replaced:
            let kept = "\(item) was changed on two devices; \(kept(by: "the other device", result))"
            guard let lost else { return kept + " What was here: vauban history \(word)" }
            return lost.isEmpty ? kept : kept + " This device's \(list(lost)): vauban history \(word)"
        case .kept:
            let kept = "\(item) was changed on two devices; \(kept(by: "this device", result))"
            // If the secret was the same there, the history may not have the other device's change.
            guard result?.contested.contains(.value) ?? true else { return kept }
            let condition = result == nil ? ", if it was another one," : ""
            return kept + " The other device's secret\(condition) is kept on that device: vauban history \(word)"
        case .deleted:
            return "\(item) was changed here, and deleted or renamed on another device. What was here is kept: vauban undelete \(word)"
        case .returned: return "\(item) was deleted or renamed here, and changed on another device later; it is back here."
        }
    }

    private static func kept(by device: String, _ result: FoundConflict.Result?) -> String {
        guard let result else { return "the later change, of \(device), is kept." }
        if result.contested.isEmpty { return "both changes are kept." }
        // In the usual case, only the secret was changed, so the sentence does not name it.
        if result.contested == [.value], !result.keepsBoth { return "the later change, of \(device), is kept." }
        let parts = list(result.contested.map(\.shown))
        return "the later change, of \(device), is kept for the \(parts)\(result.keepsBoth ? ", and both for the rest" : "")."
    }

    private static func list(_ words: [String]) -> String {
        words.count < 3 ? words.joined(separator: " and ") : words.dropLast().joined(separator: ", ") + " and " + (words.last ?? "")
    }
}

extension ItemPart {
    /// The name of the part for the user, as in the report of an import.
    fileprivate var shown: String {
        switch self {
        case .value: "secret"
        case .protection: "protection class"
        case .label: "label"
        case .comment: "comment"
        case .description: "description"
        case .generic: "generic data"
        case .alias: "alias"
        case .creator: "creator"
        case .type: "type"
        case .isInvisible: "mark as invisible"
        case .isNegative: "mark as negative"
        case .certificateEncoding: "encoding of the certificate"
        case .subject: "subject"
        case .subjectKeyID: "key identifier"
        case .publicKeyHash: "hash of the public key"
        }
    }
}
