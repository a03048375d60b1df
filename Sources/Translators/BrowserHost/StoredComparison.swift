internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanSecretText

/// What the keychain has for an account and a password that the user typed into a page.
struct StoredComparison {
    enum Stored: String {
        /// No password of this account.
        case no
        /// This password.
        case same
        /// Another password, of `item`.
        case other
        /// A password that requires the user, of `item`. It was not read.
        case unread
    }

    let stored: Stored
    let item: SiteItem?
}

extension SiteItems {
    /// Compares a typed password with those of the account that belong to the page. Never prompts: an item that requires the user is not
    /// read. Items of other accounts are not read either, since each reading is a use in the log.
    func compare(account: String, _ typed: SecretBox) throws(Refusal) -> StoredComparison {
        let own = try passwords(of: account).items.filter { $0.record.text(.account).isSameBytes(as: account) }
        guard let closest = own.first else { return StoredComparison(stored: .no, item: nil) }
        var other: SiteItem?
        for item in own.prefix(BrowserLimits.comparedMax) where !item.asks {
            guard let secret = try unpromptedSecret(of: item) else { continue }
            guard !secret.equals(typed.secret) else { return StoredComparison(stored: .same, item: item) }
            other = other ?? item
        }
        return StoredComparison(stored: other == nil ? .unread : .other, item: other ?? closest)
    }

    /// Reads the value of an item; nil if that would prompt, or if there is no value any more.
    private func unpromptedSecret(of item: SiteItem) throws(Refusal) -> SecretBytes? {
        var query = query(for: item)
        query.returns.insert(.data)
        query.authenticationUI = .fail
        do throws(Refusal) {
            return try keychain.copyMatching(query).first?.takeSecret()
        } catch {
            guard [.interactionNotAllowed, .itemNotFound].contains(error.reason) else { throw error }
            return nil
        }
    }
}
