import FoundationEssentials
internal import VaubanKeychainModel
internal import VaubanRefusal
internal import VaubanSecretBytes

/// KWallet's methods for one entry.
extension SecretServiceObjects {
    /// KWallet's return value for removing an entry that does not exist.
    private static let nothingRemoved: Int32 = -3

    func entryMethod(_ call: BusCall, in folder: String, _ handle: WalletHandle) throws -> [BusValue] {
        let arguments = call.arguments
        let name = arguments[2].text ?? ""
        guard name.utf8.count <= SecretServiceLimits.entryNameBytesMax else {
            throw BusError(.limitsExceeded, "The name of the entry is too long")
        }
        switch call.member {
        case "hasEntry": return [.boolean(try entry(name, in: folder, handle, mustBeUsable: false) != nil)]
        case "entryType": return [.signed32(try entry(name, in: folder, handle)?.kind.rawValue ?? 0)]
        case "readEntry": return [.bytes(try read(name, in: folder, handle: handle, as: nil, value: bytes))]
        case "readMap": return [.bytes(try read(name, in: folder, handle: handle, as: .map, value: bytes))]
        case "readPassword": return [.secretText(try read(name, in: folder, handle: handle, as: .password, value: text))]
        case "writePassword": return [.signed32(try write(arguments[3], as: .password, named: name, in: folder, handle: handle))]
        case "writeMap": return [.signed32(try write(arguments[3], as: .map, named: name, in: folder, handle: handle))]
        case "writeEntry":
            let number = arguments.count == 6 ? arguments[4].signed ?? 0 : WalletEntry.Kind.stream.rawValue
            guard let kind = WalletEntry.Kind(rawValue: number) else { return [.signed32(Self.walletRefusal)] }
            return [.signed32(try write(arguments[3], as: kind, named: name, in: folder, handle: handle))]
        case "renameEntry": return [.signed32(try rename(name, to: arguments[3].text ?? "", in: folder, handle))]
        case "removeEntry": return [.signed32(try remove(name, in: folder, handle))]
        default: throw BusError(.unknownMethod, "No such method")
        }
    }

    /// Returns an entry; nil if it does not exist. Throws `WalletConsent` if the client needs the user's consent first.
    private func entry(
        _ name: String, in folder: String, _ handle: WalletHandle, mustBeUsable: Bool = true
    ) throws -> WalletEntry? {
        let found = try allEntries(having: [WalletEntry.pair(folder: folder), WalletEntry.pair(name: name)], handle)
        let owner = access.owner(for: handle.client)
        guard let first = found.min(by: { $0.precedes($1, for: owner) }) else { return nil }
        if mustBeUsable, try !access.mayUse(first.item, first.identifier, by: handle.client) {
            throw WalletConsent(place: ItemPlace(collection: handle.collection, identifier: first.identifier, isLocked: true))
        }
        return first
    }

    // MARK: Reading

    /// Reads an entry of a type. Returns an empty value if it is absent or of another type, as KWallet does.
    private func read(
        _ name: String, in folder: String, handle: WalletHandle, as kind: WalletEntry.Kind?,
        value: (WalletEntry, WalletHandle) throws -> SharedSecret
    ) throws -> SharedSecret {
        guard let entry = try entry(name, in: folder, handle), kind == nil || entry.kind == kind else { return SharedSecret(copying: []) }
        return try value(entry, handle)
    }

    /// Returns an entry's bytes; those of a map in Qt's encoding.
    func bytes(of entry: WalletEntry, _ handle: WalletHandle) throws -> SharedSecret {
        let secret = try secret(of: entry.identifier, in: handle.collection, for: handle.client, until: handle.deadline).secret
        switch entry.kind {
        case .map:
            guard let stream = WalletMap.stream(of: secret.bytes) else {
                throw BusError(.failed, "The entry is not a map that KWallet can read")
            }
            return SharedSecret(stream)
        case .stream where entry.isBase64:
            var text = secret.bytes.disclosed()
            let read = Data(base64Encoded: text)
            _ = SecretBytes(absorbing: &text)
            guard var decoded = consume read else { throw BusError(.failed, "The entry is not valid Base64") }
            return SharedSecret(SecretBytes(absorbing: &decoded))
        case .stream, .password: return secret
        }
    }

    func text(of entry: WalletEntry, _ handle: WalletHandle) throws -> SharedSecret {
        let secret = try secret(of: entry.identifier, in: handle.collection, for: handle.client, until: handle.deadline).secret
        guard secret.bytes.withUnsafeBytes(UTF8Text.isString) else { throw BusError(.failed, "The entry is not text in UTF-8") }
        return secret
    }

    // MARK: Changing

    private func write(
        _ value: BusValue, as kind: WalletEntry.Kind, named name: String, in folder: String, handle: WalletHandle
    ) throws -> Int32 {
        guard let given = value.secret, let secret = content(given, kind) else { return Self.walletRefusal }
        guard secret.bytes.count <= SecretServiceLimits.secretBytesMax else {
            throw BusError(.limitsExceeded, "A secret has at most 1 MiB")
        }
        if let entry = try entry(name, in: folder, handle) {
            let isSame = entry.kind == kind && !entry.isBase64
            let edit = ItemEdit(attributes: isSame ? nil : entry.attributes(kind), contentType: kind.contentType, secret: secret)
            try change(entry.identifier, in: handle.collection, edit, by: handle.client)
            itemChanged(entry.identifier, in: handle.collection)
            return 0
        }
        let isNewFolder = try !hasFolder(folder, handle)
        let edit = ItemEdit(
            label: WalletEntry.label(folder: folder, name: name),
            attributes: WalletEntry.attributes(folder: folder, name: name, kind), contentType: kind.contentType, secret: secret,
            owner: access.owner(for: handle.client))
        let outcome = try create(edit, in: handle.collection, replaces: true, by: handle.client)
        itemStored(outcome, in: handle.collection)
        if isNewFolder { folderSignal("folderListUpdated", [.string(handle.wallet)], of: handle) }
        folderUpdated(folder, handle)
        return 0
    }

    /// Returns what an item contains for an entry's value; nil if the value does not have the type's form.
    private func content(_ value: SharedSecret, _ kind: WalletEntry.Kind) -> SharedSecret? {
        switch kind {
        case .stream: return value
        case .password: return value.bytes.withUnsafeBytes(UTF8Text.isString) ? value : nil
        case .map:
            guard let json = WalletMap.json(of: value.bytes) else { return nil }
            return SharedSecret(json)
        }
    }

    private func rename(_ name: String, to newName: String, in folder: String, _ handle: WalletHandle) throws -> Int32 {
        guard newName.utf8.count <= SecretServiceLimits.entryNameBytesMax, let old = try entry(name, in: folder, handle),
            try entry(newName, in: folder, handle, mustBeUsable: false) == nil
        else { return Self.walletRefusal }
        let edit = ItemEdit(label: WalletEntry.label(folder: folder, name: newName), attributes: old.attributes(name: newName))
        try change(old.identifier, in: handle.collection, edit, by: handle.client)
        itemChanged(old.identifier, in: handle.collection)
        folderUpdated(folder, handle)
        return 0
    }

    /// Removes an entry, and older ones of the same name, which would otherwise be found in its place.
    private func remove(_ name: String, in folder: String, _ handle: WalletHandle) throws -> Int32 {
        guard try entry(name, in: folder, handle) != nil else { return Self.nothingRemoved }
        for entry in try allEntries(having: [WalletEntry.pair(folder: folder), WalletEntry.pair(name: name)], handle)
        where try access.mayUse(entry.item, entry.identifier, by: handle.client) {
            _ = try unlessGone { try delete(entry.identifier, in: handle.collection, by: handle.client) }
        }
        folderUpdated(folder, handle)
        return 0
    }

    private func folderUpdated(_ folder: String, _ handle: WalletHandle) {
        folderSignal("folderUpdated", [.string(handle.wallet), .string(folder)], of: handle)
    }
}
