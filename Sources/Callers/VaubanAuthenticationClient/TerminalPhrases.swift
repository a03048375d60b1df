internal import VaubanPlainText
package import VaubanUserModel

/// What a question says on every terminal, in the same words.
package enum TerminalPhrases {
    package static let pathMax = 240

    /// What a user should know of a caller whose name says little; a line each.
    package static func doubt(_ caller: CallerName) -> [String] {
        let chain = caller.startedBy.map { PlainLine.path($0, charactersMax: pathMax) }.joined(separator: ", started by ")
        var lines = chain.isEmpty ? [] : ["started by \(chain)"]
        let who = caller.startedBy.isEmpty ? "It" : "What started it"
        switch caller.doubt {
        case .interpreter: lines.append("\(who) runs what anybody wrote: which script or command that is cannot be told.")
        case .traced: lines.append("WARNING: another program watches and controls it.")
        case .orphan: lines.append("Who started it cannot be told: they have ended, or it was cut off from them.")
        case .foreignCode: lines.append("WARNING: it may run code that was not installed by the administrator.")
        case .unseen: lines.append("\(who) could not be looked at.")
        case nil: break
        }
        return lines
    }

    package static func operation(_ operation: PromptOperation) -> String {
        switch operation {
        case .readItem: "to read an item that asks for you"
        case .evaluatePolicy: "to know that you are here"
        case .unlock: "to unlock the keychain"
        case .consent: "to be let in"
        case .sign: "to sign with a private key that asks for you"
        case .decrypt: "to decrypt with a private key that asks for you"
        case .exchangeKeys: "to agree on a secret with a private key that asks for you"
        case .applicationPassword: "to open an item that has a password of its own"
        }
    }
}
