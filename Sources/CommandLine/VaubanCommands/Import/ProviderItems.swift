import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// How much the provider that owns the bus name now stores, without its secrets.
struct ProviderCount {
    /// The provider's name for the user.
    let provider: String
    /// The number of items, or of wallets of KWallet, whose entries can be counted only when they are open.
    var count = 0
    var lockedCollections = 0

    init(wallets: Bool) throws {
        let report = try BusReport(["--count"] + (wallets ? ["--kwallet"] : []), of: "the number of the other provider's items")
        guard case .provider(let name) = try report.next().entry else { throw report.broken }
        provider = name
        while true {
            switch try report.next().entry {
            case .total(let number): count = number
            case .left: lockedCollections += 1
            case .end: return
            default: throw report.broken
            }
        }
    }
}

/// The items of the provider of the Secret Service, or of the KWallet, that owns the bus name now. vauban-secret-service reads them, so
/// that the command line itself does not use the bus.
final class ProviderItems {
    /// The provider's name for the user.
    let provider: String
    private let report: BusReport

    /// Starts reading. Refuses if there is no such provider.
    init(wallets: Bool, mayPrompt: Bool) throws {
        let words = ["--read"] + (wallets ? ["--kwallet"] : []) + (mayPrompt ? [] : ["--no-prompt"])
        report = try BusReport(words, of: "the items of the other provider", putsBack: true)
        guard case .provider(let name) = try report.next().entry else { throw report.broken }
        provider = name
    }

    /// Imports all items of the provider. An item that cannot be imported is reported, and does not stop the others. Calls `noteAdded`
    /// after each with the number of items added so far.
    static func imported(
        wallets: Bool, _ user: UserOptions, isDryRun: Bool = false, noteAdded: (Int) -> Void = { _ in }
    ) throws -> ImportRun {
        let source = try ProviderItems(wallets: wallets, mayPrompt: !user.noInput)
        var run = try ImportRun(try ServiceClient(user), isDryRun: isDryRun)
        try source.forEach { entry, secret in
            switch entry {
            case .notice(let sentence): run.announce(sentence)
            case .total(let total): run.total = total
            case .collection(let record): try run.takeCollection(record)
            case .item(let place, let record): try run.takeWhole(.file(place), record: record, secret: secret, isTransferred: true)
            case .left(let place, let reason): run.refuse(.file(place), SkipReason(SafeText.line(reason, max: 300)))
            case .provider, .failure, .end, .picture: break
            }
            noteAdded(run.report.added)
        }
        return run
    }

    /// Calls `body` with each entry that follows, and the item's secret. Throws if the provider fails, or the entries end too early.
    func forEach(_ body: (TransferEntry, borrowing SecretBytes) throws -> Void) throws {
        while true {
            let next = try report.next()
            if case .end = next.entry { return }
            try body(next.entry, next.secret.secret)
        }
    }
}
