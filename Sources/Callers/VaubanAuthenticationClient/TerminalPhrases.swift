internal import VaubanPlainText
package import VaubanUserModel

/// The texts that prompts share on every terminal.
package enum TerminalPhrases {
    package static let pathMax = 240

    /// Returns what the user should know about a caller whose name says little, one line each.
    package static func doubt(_ caller: CallerName) -> [String] {
        let chain = caller.startedBy.map { PlainLine.path($0, charactersMax: pathMax) }.joined(separator: ", started by ")
        var lines = chain.isEmpty ? [] : ["started by \(chain)"]
        let who = caller.startedBy.isEmpty ? "It" : "What started it"
        switch caller.doubt {
        case .interpreter: lines.append("\(who) runs scripts and commands: which one asks is unknown.")
        case .traced: lines.append("WARNING: another program watches and controls it.")
        case .orphan: lines.append("Which program started it is unknown: that program ended or detached from it.")
        case .foreignCode: lines.append("WARNING: it may run code that the administrator did not install.")
        case .unseen: lines.append("\(who) could not be inspected.")
        case nil: break
        }
        return lines
    }

    package static func operation(_ operation: PromptOperation) -> String {
        switch operation {
        case .readItem: "to read an item that needs your approval"
        case .evaluatePolicy: "to make sure that it is you"
        case .unlock: "to unlock the keychain"
        case .consent: "to get access"
        case .sign: "to sign with a private key that needs your approval"
        case .decrypt: "to decrypt with a private key that needs your approval"
        case .exchangeKeys: "to agree on a secret with a private key that needs your approval"
        case .applicationPassword: "to open an item that has its own password"
        }
    }
}
