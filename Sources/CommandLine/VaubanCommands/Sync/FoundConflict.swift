import VaubanSyncModel

/// A conflict that a run resolved.
struct FoundConflict {
    let conflict: SyncConflict
    /// The item's name for the user; nil if the item was not here.
    let shownName: String?
    /// How the changes were merged; nil if the later one counts for the whole item.
    var result: Result?

    /// The outcome of merging two changes.
    struct Result {
        /// Whether parts of the earlier change count beside those of the later one.
        let keepsBoth: Bool
        /// The parts that both devices changed, differently.
        let contested: [ItemPart]
    }

    init(_ conflict: SyncConflict, shownName: String?) {
        self.conflict = conflict
        self.shownName = shownName
    }
}
