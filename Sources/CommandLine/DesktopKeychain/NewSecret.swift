import VaubanCommands

/// The source of the secret of a new or changed password.
package enum NewSecret: Sendable {
    /// Twenty characters of all classes, or as the known rules of the site require; never shown.
    case generated
    case typed(ItemSecret)

    /// Returns the secret, and a description of what was generated.
    func make(for server: String?) throws -> (secret: ItemSecret, summary: String?) {
        switch self {
        case .typed(let secret): return (secret, nil)
        case .generated:
            let plan = try GenerationPlan.standard(for: server)
            return (ItemSecret(try plan.make()), plan.summary)
        }
    }

    /// Returns a description of what would be generated.
    package static func summary(for server: String?) -> String { (try? GenerationPlan.standard(for: server).summary) ?? "" }
}
