import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// The items of the provider of the Secret Service, or of the KWallet, that owns the bus name now. vauban-secret-service reads them, so
/// that the command line needs no bus.
final class ProviderItems {
    /// What the user calls the provider.
    let provider: String
    private let report: BusReport

    /// Starts to read. Refused if there is no such provider.
    init(wallets: Bool, mayPrompt: Bool) throws {
        let words = ["--read"] + (wallets ? ["--kwallet"] : []) + (mayPrompt ? [] : ["--no-prompt"])
        report = try BusReport(words, of: "the items of the other provider")
        guard case .provider(let name) = try report.next().entry else { throw report.broken }
        provider = name
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
