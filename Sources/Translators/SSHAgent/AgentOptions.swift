/// The arguments of vauban-ssh-agent.
struct AgentOptions {
    static let usage = "usage: vauban-ssh-agent [--socket PATH] [--upstream PATH] [--key NAME]..."

    private(set) var socket: String?
    private(set) var upstream: String?
    private(set) var keys: [String] = []

    /// Parses the arguments; nil if they are invalid.
    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            guard let value = rest.popFirst(), !value.isEmpty else { return nil }
            switch option {
            case "--socket" where socket == nil: socket = value
            case "--upstream" where upstream == nil: upstream = value
            case "--key": keys.append(value)
            default: return nil
            }
        }
    }
}
