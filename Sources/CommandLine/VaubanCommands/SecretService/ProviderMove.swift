import Glibc
import VaubanRefusal

/// The items that `vauban enable secret-service` moves from the programs that Vauban replaces, while those still run.
struct ProviderMove {
    let hasWallets: Bool
    /// Whether to move items; nil prompts on a terminal, and moves nothing without one.
    let wanted: Bool?
    let user: UserOptions
    /// Whether an item was added here, also by a run that failed later.
    private(set) var hasMoved = false

    init(hasWallets: Bool, wanted: Bool?, user: UserOptions) {
        self.hasWallets = hasWallets
        self.wanted = wanted
        self.user = user
    }

    enum Outcome {
        /// Nothing was moved, by the user's choice or because there are no items.
        case nothing
        case whole
        /// Some items stay with their provider, which is reported.
        case part
    }

    /// Moves what the user wants. Throws if that fails or the user cancels.
    mutating func run() throws -> Outcome {
        let terminal = wanted == nil && !user.noInput ? Terminal.inForeground() : nil
        guard wanted ?? (terminal != nil) else { return .nothing }
        var outcomes: [Outcome] = []
        var isFound = false
        for wallets in hasWallets ? [false, true] : [false] {
            guard let owner = try owner(wallets) else { continue }
            isFound = true
            if !owner.isVauban { outcomes.append(try take(owner, wallets: wallets, terminal)) }
        }
        guard isFound || wanted == nil else {
            throw Refusal(.unavailable, "No program provides the Secret Service now; start the one that has your items, and try again")
        }
        if outcomes.contains(where: { $0 == .part }) { return .part }
        return outcomes.contains(where: { $0 == .whole }) ? .whole : .nothing
    }

    /// Without a session bus there is no other provider.
    private func owner(_ wallets: Bool) throws -> SecretServiceOwner? {
        do { return try wallets ? SecretServiceOwner.ofWallets() : SecretServiceOwner.current() } catch {
            if wanted == nil { return nil }
            throw error
        }
    }

    private mutating func take(_ owner: SecretServiceOwner, wallets: Bool, _ terminal: Terminal?) throws -> Outcome {
        let there = try ProviderCount(wallets: wallets)
        let name = SafeText.line(there.provider, max: 100)
        say(sentence(there, of: name, owner: owner, wallets: wallets))
        guard there.count > 0 || there.lockedCollections > 0 else { return .nothing }
        guard try terminal.map({ try asks($0, name) }) ?? true else { return .nothing }
        var added = 0
        defer { if added > 0 { hasMoved = true } }
        let run = try ProviderItems.imported(wallets: wallets, user) { added = $0 }
        run.finish()
        for record in run.report.records { for line in record.lines(isDryRun: false) { print(line) } }
        fflush(nil)
        say(run.report.summary)
        return run.report.isWhole ? .whole : .part
    }

    private func sentence(_ there: ProviderCount, of name: String, owner: SecretServiceOwner, wallets: Bool) -> String {
        let (what, unit) = wallets ? ("KWallet", "wallet") : ("the Secret Service", "item")
        let number = "\(there.count) \(unit)\(there.count == 1 ? "" : "s")"
        let locked =
            switch there.lockedCollections {
            case 0: ""
            case 1: " A collection is locked; \(name) asks you itself to unlock it."
            default: " \(there.lockedCollections) collections are locked; \(name) asks you itself to unlock them."
            }
        return "\(name) (\(owner.words)) provides \(what) now, with \(number).\(locked)"
    }

    /// Returns whether the user wants to move the items. Throws if the user cancels.
    private func asks(_ terminal: Terminal, _ name: String) throws(Refusal) -> Bool {
        while true {
            let answer = terminal.readWord("Bring them over to Vauban? They stay in \(name) as well. [Y/n] ")
            switch answer?.lowercased() {
            case nil: throw Refusal(.cancelled)
            case "", "y", "yes": return true
            case "n", "no": return false
            default: say("Type y or n, or Ctrl-C to change nothing.")
            }
        }
    }
}
