import ArgumentParser
import Foundation
import VaubanKeychainClient
import VaubanRefusal
import VaubanSecretBytes

/// One of several items that a command reads. Each error names the item.
struct NamedItem {
    let selection: ItemSelection
    /// The website's password that the word names as a URL, if no item has the word as its name.
    private let website: ItemSelection?
    /// The item's name in the error for several matches.
    let label: String

    /// Parses a name, which may begin with a hyphen, or the URL of a website's password.
    init(_ word: String, label: String? = nil) throws {
        do throws(ParsingError) { _ = try ItemReference.name(in: word) } catch {
            throw Refusal(.badParameter, "\(SafeText.line(label ?? word, max: 150)): \(error.why)")
        }
        let address = word.hasPrefix("https://") || word.hasPrefix("http://") ? URLComponents(string: word) : nil
        // No message repeats it.
        guard address?.password == nil else {
            throw Refusal(.badParameter, "The URL of an item must not contain a password: other programs can read arguments")
        }
        selection = try ItemSelection.parse(["--", word])
        website = try address == nil || (try? WebAddress(word)) == nil ? nil : ItemSelection.parse(["--url", word])
        self.label = label ?? selection.shown
    }

    /// Returns the secret if it passes the check.
    func secret(
        _ client: ServiceClient, reason: String, check: (borrowing SecretBytes) throws -> Void = { _ in }
    ) throws -> SecretBytes {
        let shown = selection.shown
        do {
            let secret = try secret(client, reason)
            try check(secret)
            return secret
        } catch let refusal as Refusal {
            if refusal.reason == .itemNotFound, refusal.detail == nil { throw Refusal.noItem(shown) }
            let what = refusal.detail ?? (refusal.reason.detailIsComplete ? refusal.message : "")
            let detail = [shown, what].filter { !$0.isEmpty }.joined(separator: ": ")
            throw Refusal(refusal.reason, detail, attemptsLeft: refusal.attemptsLeft, secondsToWait: refusal.secondsToWait)
        } catch let several as SeveralMatches {
            say("vauban: \(label) matches more than one item")
            throw several
        }
    }

    private func secret(_ client: ServiceClient, _ reason: String) throws -> SecretBytes {
        do {
            return try client.secret(selection, for: "get", reason: reason)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            guard let website else { throw refusal }
            return try client.secret(website, for: "get", reason: reason)
        }
    }
}
