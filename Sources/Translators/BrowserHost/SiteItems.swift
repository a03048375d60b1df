internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal

/// The items of the keychain for one page. Each call searches by name, never the whole keychain, and keeps nothing.
struct SiteItems {
    let keychain: KeychainClient
    let site: SiteNames

    /// The prefix of the names of items with keys for one-time codes (Specs/item-attributes.md).
    private static let codesPrefix = "otpauth:"

    /// Items that were found, and whether there may be more.
    struct Found {
        var items: [SiteItem]
        var isCut: Bool
    }

    /// Returns the passwords and codes for the page: the closest name first.
    func all() throws(Refusal) -> Found {
        let passwords = try passwords()
        let codes = try codes(beside: passwords.items)
        let places = BrowserLimits.itemsMax - min(codes.items.count, BrowserLimits.namesOfCodesMax)
        let items = Array((passwords.items.prefix(places) + codes.items).prefix(BrowserLimits.itemsMax))
        let isCut = passwords.isCut || codes.isCut || items.count < passwords.items.count + codes.items.count
        return Found(items: items, isCut: isCut)
    }

    /// Returns the passwords for the page, the closest name first: all, or those of one account.
    func passwords(of account: String? = nil) throws(Refusal) -> Found {
        var passwords = Found(items: [], isCut: false)
        for name in site.names {
            for (kind, attribute) in [(ItemKind.internetPassword, AttributeName.server), (.genericPassword, .service)] {
                var attributes = ItemAttributes([attribute: .text(name.host)])
                if let account { attributes[.account] = .text(account) }
                let found = try found(ItemQuery(kind: kind, attributes: attributes), for: .password) { site.reason(for: $0) }
                passwords.items += found.items
                passwords.isCut = passwords.isCut || found.isCut
            }
        }
        return passwords
    }

    /// Returns the item that the extension names, if it is one for the page.
    func item(_ identifier: String, for purpose: SiteItem.Purpose) throws(Refusal) -> SiteItem {
        let item: SiteItem? =
            switch purpose {
            case .password: try password(identifier)
            case .code: try all().items.first { $0.identifier == identifier && $0.purpose == .code }
            }
        guard let item else { throw Refusal(.itemNotFound, "The keychain has no such item for this site") }
        return item
    }

    private func password(_ identifier: String) throws(Refusal) -> SiteItem? {
        guard let reference = SiteItem.reference(of: identifier) else { return nil }
        for kind in [ItemKind.internetPassword, .genericPassword] {
            var query = ItemQuery(kind: kind)
            query.reference = reference
            if let item = try found(query, for: .password, { site.reason(for: $0) }).items.first { return item }
        }
        return nil
    }

    /// Returns the codes that are named like the site, or like one of its passwords.
    private func codes(beside passwords: [SiteItem]) throws(Refusal) -> Found {
        var names = site.origin.port == WebOrigin.portDefault ? site.names.map(\.host) : [site.origin.words]
        for password in passwords.prefix(BrowserLimits.namesOfCodesMax) {
            for name in [password.loginName, password.title] where !names.contains(name) { names.append(name) }
        }
        var codes = Found(items: [], isCut: false)
        for name in names where !name.isEmpty {
            let query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text(Self.codesPrefix + name)]))
            let found = try found(query, for: .code) { _ in "one-time code of \(name)" }
            let others = found.items.filter { item in !codes.items.contains { $0.reference == item.reference } }
            codes.items += others
            codes.isCut = codes.isCut || found.isCut
        }
        return codes
    }

    /// Returns the matches of a query that `why` has a reason for. A name can have many items of other ports and protocols, which must not
    /// displace those of the page; so this continues until it has enough matches, or has examined the maximum number of items.
    private func found(
        _ query: ItemQuery, for purpose: SiteItem.Purpose, _ why: (ItemRecord) -> String?
    ) throws(Refusal) -> Found {
        var query = query
        query.returns = [.attributes, .reference]
        query.includesSynchronizable = true
        query.authenticationUI = .describe
        var limit = BrowserLimits.itemsMax + 1
        while true {
            query.limit = .count(Int64(limit))
            let entries = try matches(query)
            let items = entries.compactMap { entry -> SiteItem? in
                guard let record = entry.record, let reference = entry.reference, record.number(.isNegative) == 0 else { return nil }
                return why(record).map { SiteItem(purpose: purpose, record: record, reference: reference, why: $0) }
            }
            let isWhole = entries.count < limit
            if isWhole || items.count > BrowserLimits.itemsMax || limit >= BrowserLimits.searchedMax {
                return Found(items: items, isCut: !isWhole)
            }
            limit = min(limit * 8, BrowserLimits.searchedMax)
        }
    }

    private func matches(_ query: ItemQuery) throws(Refusal) -> [ReceivedItem] {
        do throws(Refusal) {
            return try keychain.copyMatching(query)
        } catch {
            guard error.reason == .itemNotFound else { throw error }
            return []
        }
    }
}
