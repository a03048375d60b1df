internal import VaubanAccessPolicy
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanSecretText

/// An item that is offered for a page.
struct SiteItem {
    enum Purpose: String { case password, code }

    let purpose: Purpose
    let record: ItemRecord
    let reference: [UInt8]
    /// Why it is offered, for the user.
    let why: String

    /// How the extension names it.
    var identifier: String { reference.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// Whether each use of its value prompts the user.
    var asks: Bool { record.accessControl.map { $0.requirementToDecrypt != .none } ?? false }

    var title: String {
        let label = record.text(.label)
        return label.isEmpty ? place : label
    }

    /// The name that its one-time code has too.
    var loginName: String {
        record.kind == .internetPassword ? LoginName.of(server: record.text(.server), port: record.number(.port)) : record.text(.service)
    }

    /// The server or service that it is for.
    private var place: String { record.text(record.kind == .internetPassword ? .server : .service) }

    /// How `vauban` takes the item in one word.
    var word: String { "\(place)/\(record.text(.account))" }
}

/// The items of the keychain for one page. Each call searches by name, never the whole keychain, and keeps nothing.
struct SiteItems {
    let keychain: KeychainClient
    let site: SiteNames

    /// How items with keys for one-time codes are named (Specs/item-attributes.md).
    private static let codesPrefix = "otpauth:"

    /// Returns the passwords and codes for the page: the closest name first.
    func all() throws(Refusal) -> [SiteItem] {
        var passwords: [SiteItem] = []
        for name in site.names {
            passwords += try found(.internetPassword, .server, name: name.host).compactMap { record, reference in
                site.reason(for: record).map { SiteItem(purpose: .password, record: record, reference: reference, why: $0) }
            }
            passwords += try found(.genericPassword, .service, name: name.host).compactMap { record, reference in
                site.reason(for: record).map { SiteItem(purpose: .password, record: record, reference: reference, why: $0) }
            }
        }
        let codes = try codes(beside: passwords)
        let places = BrowserLimits.itemsMax - min(codes.count, BrowserLimits.namesOfCodesMax)
        return Array((passwords.prefix(places) + codes).prefix(BrowserLimits.itemsMax))
    }

    /// Returns the item that the extension names, if it is one of those for the page.
    func item(_ identifier: String, for purpose: SiteItem.Purpose) throws(Refusal) -> SiteItem {
        guard let item = try all().first(where: { $0.identifier == identifier && $0.purpose == purpose }) else {
            throw Refusal(.itemNotFound, "The keychain has no such item for this site")
        }
        return item
    }

    /// Returns the codes that are named like the site, or like one of its passwords.
    private func codes(beside passwords: [SiteItem]) throws(Refusal) -> [SiteItem] {
        var names = site.origin.port == WebOrigin.portDefault ? site.names.map(\.host) : [site.origin.words]
        for password in passwords.prefix(BrowserLimits.namesOfCodesMax) {
            for name in [password.loginName, password.title] where !names.contains(name) { names.append(name) }
        }
        var codes: [SiteItem] = []
        for name in names where !name.isEmpty {
            for (record, reference) in try found(.genericPassword, .service, name: Self.codesPrefix + name)
            where !codes.contains(where: { $0.reference == reference }) {
                codes.append(SiteItem(purpose: .code, record: record, reference: reference, why: "one-time code of \(name)"))
            }
        }
        return codes
    }

    private func found(
        _ kind: ItemKind, _ attribute: AttributeName, name: String
    ) throws(Refusal) -> [(ItemRecord, [UInt8])] {
        var query = ItemQuery(kind: kind, attributes: ItemAttributes([attribute: .text(name)]))
        query.limit = .count(Int64(BrowserLimits.itemsMax))
        query.returns = [.attributes, .reference]
        query.includesSynchronizable = true
        query.authenticationUI = .describe
        do throws(Refusal) {
            return try keychain.copyMatching(query).compactMap { entry in
                guard let record = entry.record, let reference = entry.reference, record.number(.isNegative) == 0 else { return nil }
                return (record, reference)
            }
        } catch {
            guard error.reason == .itemNotFound else { throw error }
            return []
        }
    }

    // MARK: Values

    /// Reads the value of an item; the service prompts the user if the item demands it.
    func secret(of item: SiteItem, reason: String, waiting: @escaping KeychainClient.Waiting) throws(Refusal) -> SecretBytes {
        var query = query(for: item)
        query.returns.insert(.data)
        query.operationPrompt = reason
        guard let secret = try keychain.copyMatching(query, waiting: waiting).first?.takeSecret() else {
            throw Refusal(.itemNotFound, "The item has no password")
        }
        return secret
    }

    /// Adds a password for the page.
    func save(account: String, _ secret: SecretBox) throws(Refusal) {
        var attributes = ItemAttributes([
            .server: .text(site.origin.host), .protocolName: .text("htps"), .account: .text(account), .label: .text(site.origin.words),
            .accessGroup: .text(AccessGroup.commandLine),
        ])
        if site.origin.port != WebOrigin.portDefault { attributes[.port] = .number(site.origin.port) }
        _ = try keychain.add(ItemRecord(kind: .internetPassword, attributes: attributes), secret: secret.secret.duplicate())
    }

    /// Replaces the password of an item. The one before stays an earlier value of the item.
    func replace(_ item: SiteItem, _ secret: SecretBox, reason: String, waiting: @escaping KeychainClient.Waiting) throws(Refusal) {
        var query = query(for: item)
        query.operationPrompt = reason
        let changes = ItemChanges(attributes: ItemAttributes(), hasData: true)
        try keychain.update(query, changes, secret: secret.secret.duplicate(), waiting: waiting)
    }

    func query(for item: SiteItem) -> ItemQuery {
        var query = ItemQuery(kind: item.record.kind)
        query.reference = item.reference
        query.includesSynchronizable = true
        return query
    }
}
