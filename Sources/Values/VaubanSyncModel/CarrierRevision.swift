/// The identity of a carrier's store, and how often the store was changed (Specs/sync.md, "A carrier that was put back").
package struct CarrierRevision: Hashable, Sendable {
    package let cluster: UInt64
    package let revision: Int64

    package init(cluster: UInt64, revision: Int64) {
        self.cluster = cluster
        self.revision = revision
    }

    /// Why a carrier is not the one that was seen before.
    package enum Setback: Hashable, Sendable {
        case otherStore
        case earlier
    }

    /// Returns what is wrong with this revision if `known` was seen before; nil if nothing is.
    package func setback(since known: CarrierRevision) -> Setback? {
        guard cluster == known.cluster else { return .otherStore }
        return revision < known.revision ? .earlier : nil
    }

    /// The revision as the sync home keeps it.
    package var text: String { "\(cluster) \(revision)\n" }

    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[1].last == "\n", let cluster = UInt64(words[0]), let revision = Int64(words[1].dropLast()),
            revision > 0
        else { return nil }
        self.init(cluster: cluster, revision: revision)
    }
}
