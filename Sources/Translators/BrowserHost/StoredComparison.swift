internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanSecretText

/// What the keychain contains for an account and a password that the user typed into a page.
struct StoredComparison {
    enum Stored: String {
        /// No password of this account.
        case no
        /// This password.
        case same
        /// Another password, of `item`.
        case other
        /// A password, of `item`, that requires the user's approval. It was not read.
        case unread
    }

    let stored: Stored
    let item: SiteItem?
}

extension SiteItems {
    /// Compares a typed password with the account's passwords for the page. Never prompts: items that require the user's approval are not
    /// read. Neither are items of other accounts, since the access log records each read.
    func compare(account: String, _ typed: SecretBox) throws(Refusal) -> StoredComparison {
        let own = try passwords(of: account).items.filter { $0.record.text(.account).isSameBytes(as: account) }
        guard let closest = own.first else { return StoredComparison(stored: .no, item: nil) }
        var other: SiteItem?
        for item in own.prefix(BrowserLimits.comparedMax) where !item.needsApproval {
            guard let secret = try unpromptedSecret(of: item) else { continue }
            guard !secret.equals(typed.secret) else { return StoredComparison(stored: .same, item: item) }
            other = other ?? item
        }
        return StoredComparison(stored: other == nil ? .unread : .other, item: other ?? closest)
    }

    /// Reads the value of an item; nil if that would prompt, or if the value no longer exists.
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
