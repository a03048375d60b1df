// The user's passwords for a website, which the website's applications and the browser share (Specs/associated-domains.md). They are the
// user's own items. An application gets access only if it and the website name each other, and the user consents.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanAssociations
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanUserModel

extension RequestInProgress {
    func sharedPassword(_ request: SharedPasswordRequest, _ value: borrowing SecretBytes) throws {
        let site = try AssociatedSite(request.site, of: caller, granted: try entitlements())
        guard request.action == .pick || !request.account.isEmpty else { throw Refusal(.badParameter, "The request needs an account") }
        guard request.action != .save || !value.isEmpty else { throw Refusal(.badParameter, "The password must not be empty") }
        guard let lists = services.siteLists else { throw Refusal(.unavailable, "No website can be queried: the fetcher is not installed") }
        // The fetcher has its own deadline, before which the caller must not time out.
        try sink.send(.queued)
        try services.siteRequests.count(for: user) { try site.askSite(lists) }
        // What follows concerns the user's own items, and reveals nothing about them before the user consents.
        knownRights = .ownPasswords
        switch request.action {
        case .save: try savePassword(of: request.account, at: site, value)
        case .delete: try deletePasswords(of: request.account, at: site)
        case .pick: try pickPassword(of: request.account, at: site)
        }
    }

    /// Adds a password or changes the present one. Does not prompt if the same password is already stored.
    private func savePassword(of account: String, at site: AssociatedSite, _ value: borrowing SecretBytes) throws {
        let padded = PaddedValue(hasValue: true, value)
        guard let present = try passwords(of: account, at: site).first else {
            try promptOnce(for: .savePassword, account: account, site: site)
            return try addPassword(of: account, at: site, padded)
        }
        if try holds(present, value) { return try sink.send(.done) }
        try promptOnce(for: .changePassword, account: account, site: site, about: .item(present))
        var query = ItemQuery(kind: .internetPassword)
        query.reference = present.binding.item
        try update(query, to: ItemChanges(attributes: ItemAttributes(), hasData: true), value: padded)
    }

    /// Returns whether an item that can be read without a prompt has this value.
    private func holds(_ opened: OpenedRow, _ value: borrowing SecretBytes) throws -> Bool {
        guard !opened.needsPrompt(givenPassword: false), let stored = try openValue(of: opened, reason: nil, mayPrompt: false) else {
            return false
        }
        return stored.value().equals(value)
    }

    private func addPassword(of account: String, at site: AssociatedSite, _ value: borrowing PaddedValue) throws {
        let now = services.now()
        let attributes = ItemAttributes([
            .server: .text(site.name.host), .account: .text(account), .port: .number(site.name.port ?? 0), .path: .text(""),
            .protocolName: .text(Self.https), .label: .text(site.name.host),
        ])
        var record = try QueryGrammar.addition(ItemRecord(kind: .internetPassword, attributes: attributes), for: try rights())
        record.attributes[.creationDate] = .date(now)
        record.attributes[.modificationDate] = .date(now)
        try checkSize(record)
        let item = try Entropy.bytes(16)
        try withRetries { try write(record, item: item, value: value) }
        try sink.send(.done)
    }

    /// Deletes passwords with the user's consent. Does not prompt if there is none.
    private func deletePasswords(of account: String, at site: AssociatedSite) throws {
        let present = try passwords(of: account, at: site)
        guard let shown = present.first(where: \.isCanary) ?? present.first else { return try sink.send(.done) }
        try promptOnce(for: .deletePassword, account: account, site: site, about: .item(shown))
        try withRetries {
            let found = try passwords(of: account, at: site)
            let rows = found.map(\.row.handle)
            let removals = try rows.map { removal(of: $0, atOnce: false) } + permissionRows(of: rows).map { RowRemoval($0, isLocal: true) }
            return try withLogRecords(of: .deleted, found.map(\.used)) { try database.delete(removals, appending: $0) }
        }
        try sink.send(.done)
    }

    /// Returns the password that the user picks.
    private func pickPassword(of account: String, at site: AssociatedSite) throws {
        let found = Array(try passwords(of: account, at: site).prefix(Consent.accountsMax))
        guard let first = found.first else { throw Refusal(.itemNotFound, "No password is saved for \(site.name.text)") }
        let chosen: OpenedRow
        if found.count == 1 {
            try promptOnce(for: .usePassword, account: first.record.accountText, site: site, about: .item(first))
            chosen = first
        } else {
            let accounts = found.map(\.record.accountText)
            let consent = Consent(.usePassword, offered: .once, item: site.name.text, accounts: accounts)
            guard case .account(let index) = try ask(consent), found.indices.contains(index) else { throw Refusal(.cancelled) }
            chosen = found[index]
        }
        guard let value = try openValue(of: chosen, reason: nil, mayPrompt: true) else { throw Refusal(.itemNotFound) }
        note(.read, chosen)
        // The application must not get the rest of the item, such as a comment.
        let wanted: [AttributeName] = [.server, .account, .port]
        let attributes = wanted.reduce(into: ItemAttributes()) { $0[$1] = chosen.record.attributes[$1] }
        let replies = ReplyBatch(sink, returning: [.data, .attributes], isForOne: true)
        let record = ItemRecord(kind: .internetPassword, attributes: attributes)
        try replies.add(record, of: chosen.binding.item, value: value)
        try replies.finish()
    }

    private func promptOnce(
        for purpose: Consent.Purpose, account: String, site: AssociatedSite, about subject: PromptSubject = .other
    ) throws {
        let item = account.isEmpty ? site.name.text : "\(site.name.text)/\(account)"
        guard try ask(Consent(purpose, offered: .once, item: item), about: subject) == .once else { throw Refusal(.cancelled) }
    }

    /// Returns the user's own passwords for a website, the last changed first; only those of one account, unless the text is empty.
    private func passwords(of account: String, at site: AssociatedSite) throws -> [OpenedRow] {
        var attributes = ItemAttributes([.server: .text(site.name.host)])
        if !account.isEmpty { attributes[.account] = .text(account) }
        var query = ItemQuery(kind: .internetPassword, attributes: attributes)
        query.includesSynchronizable = true
        let terms = try QueryGrammar.terms(of: query, for: try rights())
        let selection = try selection(terms, of: try rights().groups)
        guard !selection.usesDeviceIndex else { throw Refusal(.beforeFirstUnlock) }
        var found: [OpenedRow] = []
        try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
            guard let opened = try open(row), try rights().owns(opened.record.accessGroup), terms.match(opened.record.attributes),
                opened.record.isForBrowsers(at: site.name.port)
            else { return true }
            found.append(opened)
            return true
        }
        return found.sorted { $0.record.changed > $1.record.changed }
    }

    fileprivate static let https = "htps"
}

extension ItemRecord {
    fileprivate var accountText: String { text(.account) }

    /// Returns whether a browser would use the item for pages at this port. An item for another protocol, such as mail, is not for
    /// browsers.
    fileprivate func isForBrowsers(at port: Int64?) -> Bool {
        let own: Int64 = if case .number(let number)? = attributes[.port] { number } else { 0 }
        return ["", RequestInProgress.https, "http"].contains(text(.protocolName)) && (own == 443 ? 0 : own) == port ?? 0
    }

    private func text(_ name: AttributeName) -> String {
        switch attributes[name] {
        case .text(let text)?: text
        case .data(let bytes)?: String(decoding: bytes, as: UTF8.self)
        default: ""
        }
    }
}
