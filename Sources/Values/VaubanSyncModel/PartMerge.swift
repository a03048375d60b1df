/// How two changes of one item are merged whose makers did not know of each other's (Specs/sync.md, "Parts"): a pure function.
package struct PartMerge: Hashable, Sendable {
    /// The noted versions that the maker of the received change knew, by their stamps; at least one.
    package let common: [PartDigests]
    /// The noted versions that only this device knew.
    package let own: [PartDigests]
    /// Whether the received change is the later one, which counts where both changed the same part.
    package let receivedWins: Bool

    package init(common: [PartDigests], own: [PartDigests] = [], receivedWins: Bool) {
        self.common = common
        self.own = own
        self.receivedWins = receivedWins
    }

    package struct Result: Hashable, Sendable {
        /// The parts that come from the earlier change.
        package let fromEarlier: Set<ItemPart>
        /// The parts that both changed, differently. For these the later change counts.
        package let contested: [ItemPart]
    }

    private enum Side { case here, received }

    /// Returns which parts come from the earlier change, and which both changed.
    package func result(here: PartDigests, received: PartDigests) -> Result {
        var fromEarlier: Set<ItemPart> = []
        var contested: [ItemPart] = []
        for part in here.parts(otherThanIn: received) {
            switch side(of: part, here: here[part], received: received[part]) {
            case .here: if receivedWins { fromEarlier.insert(part) }
            case .received: if !receivedWins { fromEarlier.insert(part) }
            case nil: contested.append(part)
            }
        }
        return Result(fromEarlier: fromEarlier, contested: contested)
    }

    /// Returns whose change of a part counts; nil if both changed it.
    private func side(of part: ItemPart, here: UInt64, received: UInt64) -> Side? {
        let isKnownThere = common.contains { $0[part] == here }
        let isKnownHere = (common + own).contains { $0[part] == received }
        // If only one side knew the other's present part, that side has replaced it. Any version that was known counts, not only the last
        // common one: each device may have merged a change of the other's with one that the other did not know at that time.
        if isKnownThere != isKnownHere { return isKnownThere ? .received : .here }
        guard isKnownThere, let last = common.last?[part] else { return nil }
        return last == here ? .received : last == received ? .here : nil
    }
}
