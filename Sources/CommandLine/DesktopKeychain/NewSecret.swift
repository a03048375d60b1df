import VaubanCommands

/// Where the secret of a new or changed password comes from.
package enum NewSecret: Sendable {
    /// Twenty characters of all classes, or as the known rules of the site demand; it is never shown.
    case generated
    case typed(ItemSecret)

    /// Returns the secret, and what was generated in words.
    func make(for server: String?) throws -> (secret: ItemSecret, summary: String?) {
        switch self {
        case .typed(let secret): return (secret, nil)
        case .generated:
            let plan = try GenerationPlan.standard(for: server)
            return (ItemSecret(try plan.make()), plan.summary)
        }
    }

    /// Returns what would be generated, in words.
    package static func summary(for server: String?) -> String { (try? GenerationPlan.standard(for: server).summary) ?? "" }
}
