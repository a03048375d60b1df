// Converts between items of the keychain and of the Secret Service (Specs/secret-service.md).

internal import VaubanDER
internal import VaubanKeychainModel

enum ItemMapping {
    static let defaultContentType = "text/plain"
    /// Seconds between 1970 and 2001, the epoch of the keychain's dates.
    private static let referenceDate: Int64 = 978_307_200
    /// The attributes in which programs store what the keychain calls service and account, the most common first.
    private static let serviceNames = ["service", "server", "domain", "host", "application", "xdg:schema"]
    private static let accountNames = ["username", "account", "user", "login", "key"]
    /// The attribute for the service of an item that was not stored over the bus.
    static let plainService = "service"
    static let plainAccount = "username"

    /// Returns the keychain's attributes for a client's edit.
    static func attributes(_ edit: ItemEdit, in collection: String, instance: [UInt8]) throws -> ItemAttributes {
        var attributes = ItemAttributes()
        if let label = edit.label { attributes[.label] = .text(label) }
        if let contentType = edit.contentType {
            attributes[.description] = .text(contentType == defaultContentType ? "" : contentType)
        }
        if let owner = edit.owner { attributes[.generic] = .text(owner) }
        if let pairs = edit.attributes {
            let own = SecretServiceAttributes(collection: collection, instance: instance, attributes: pairs)
            attributes[.secretServiceAttributes] = .data(try own.encoded())
            attributes[.service] = .text(first(of: serviceNames, in: own) ?? "secret-service")
            attributes[.account] = .text(first(of: accountNames, in: own) ?? "")
        }
        return attributes
    }

    private static func first(of names: [String], in attributes: SecretServiceAttributes) -> String? {
        for name in names { if let value = attributes[name], !value.isEmpty { return value } }
        return nil
    }

    static func item(_ record: ItemRecord) -> StoredItem {
        let attributes = record.attributes
        var contentType = text(attributes[.description]) ?? ""
        if !contentType.contains("/") { contentType = defaultContentType }
        let own = SecretServiceAttributes(attributes[.secretServiceAttributes])
        let owner = own == nil ? nil : text(attributes[.generic])
        let pairs = own?.attributes ?? plainAttributes(attributes)
        let name = [text(attributes[.service]), text(attributes[.account])].compactMap { $0?.isEmpty == false ? $0 : nil }
        return StoredItem(
            label: text(attributes[.label]) ?? name.joined(separator: "/"), attributes: pairs, contentType: contentType,
            created: seconds(attributes[.creationDate]), modified: seconds(attributes[.modificationDate]),
            owner: owner == "" ? nil : owner)
    }

    private static func plainAttributes(_ attributes: ItemAttributes) -> [SecretServiceAttributes.Pair] {
        [
            SecretServiceAttributes.Pair(plainService, text(attributes[.service]) ?? ""),
            SecretServiceAttributes.Pair(plainAccount, text(attributes[.account]) ?? ""),
        ].filter { !$0.value.isEmpty }
    }

    /// Returns the query for an item that was not stored over the bus, or nil if such an item cannot have these attributes.
    static func plainQuery(_ pairs: [SecretServiceAttributes.Pair]) -> ItemAttributes? {
        var attributes = ItemAttributes([.secretServiceAttributes: .data([])])
        for pair in pairs {
            switch pair.name {
            case plainService: attributes[.service] = .text(pair.value)
            case plainAccount: attributes[.account] = .text(pair.value)
            default: return nil
            }
        }
        return attributes
    }

    /// Whether a record is hidden, which its service alone decides.
    static func isHidden(_ record: ItemRecord) -> Bool { text(record.attributes[.service]).map { isHidden(service: $0) } ?? false }

    /// Whether the items of a service are hidden: SSH keys, parts of another item, and the service's own records.
    static func isHidden(service: String) -> Bool {
        hiddenServices.contains(service) || service.hasPrefix("otpauth:") || service.hasPrefix("fields:")
    }

    private static let hiddenServices = [
        "ssh-key", "ssh-certificate", CollectionRecords.service, CollectionRecords.aliasService, ItemAccess.service,
        SecretPortal.service, WalletFolders.service,
    ]

    static func text(_ value: AttributeValue?) -> String? {
        switch value {
        case .text(let text): text
        case .data(let bytes): String(decoding: bytes, as: UTF8.self)
        case .number(let number): String(number)
        case .date, nil: nil
        }
    }

    static func seconds(_ value: AttributeValue?) -> UInt64 {
        guard case .date(let microseconds)? = value else { return 0 }
        return UInt64(clamping: microseconds / 1_000_000 + referenceDate)
    }

    // MARK: Identifiers

    /// Returns an item's identity in the form used in its path.
    static func identifier(_ reference: [UInt8]) -> String {
        String(decoding: reference.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    static func reference(_ identifier: String) -> [UInt8]? {
        guard identifier.utf8.count == 32 else { return nil }
        let values = identifier.utf8.compactMap { digits.firstIndex(of: $0).map(UInt8.init) }
        guard values.count == 32 else { return nil }
        return stride(from: 0, to: 32, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    private static let digits = Array("0123456789abcdef".utf8)
}

extension SecretServiceAttributes {
    static let genericSchema = Pair("xdg:schema", "org.freedesktop.Secret.Generic")

    /// The attributes that identify the item to replace. GNOME Keyring adds this schema to items without one when it reads its files again,
    /// but the programs that stored them still replace them without it.
    var withoutGenericSchema: Self {
        let generic = Self.genericSchema
        return Self(
            collection: collection, instance: instance,
            attributes: attributes.filter { $0.name != generic.name || $0.value != generic.value })
    }
}
