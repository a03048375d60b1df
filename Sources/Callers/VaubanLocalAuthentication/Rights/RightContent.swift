/// The content of a persisted right's record, except the names of the right and its key (Specs/rights.md).
package struct RightContent: Hashable, Sendable {
    package let tag: Int
    /// The secret, encrypted with the public key; nil if none was saved.
    package let secret: [UInt8]?

    package init(tag: Int, secret: [UInt8]?) {
        self.tag = tag
        self.secret = secret
    }

    package init?(value: [UInt8], comment: String) {
        guard let tag = Int(comment.dropFirst("tag ".count)) else { return nil }
        switch (value.first, value.count) {
        case (0, 1): self.init(tag: tag, secret: nil)
        case (1, 2...): self.init(tag: tag, secret: Array(value.dropFirst()))
        default: return nil
        }
        guard comment == self.comment else { return nil }
    }

    /// A byte that is 1 if there is a secret and 0 otherwise, followed by the encrypted secret.
    package var value: [UInt8] { secret.map { [1] + $0 } ?? [0] }

    package var comment: String { "tag \(tag)" }
}
