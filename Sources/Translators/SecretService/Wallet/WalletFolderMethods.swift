internal import VaubanKeychainModel
internal import VaubanSecretBytes

/// KWallet's methods for the folders of an open wallet, and for listing a folder's entries.
extension SecretServiceObjects {
    func folderMethod(_ call: BusCall, _ handle: WalletHandle) throws -> [BusValue] {
        let folder = call.member == "folderList" ? "" : call.arguments[1].text ?? ""
        guard folder.utf8.count <= SecretServiceLimits.entryNameBytesMax else {
            throw BusError(.limitsExceeded, "The name of the folder is too long")
        }
        switch call.member {
        case "folderList": return [.strings(try folders(of: handle))]
        case "hasFolder": return [.boolean(try hasFolder(folder, handle))]
        case "createFolder":
            if try !hasFolder(folder, handle) {
                try walletFolders.create(folder, in: handle.collection)
                folderSignal("folderListUpdated", [.string(handle.wallet)], of: handle)
            }
            return [.boolean(true)]
        case "removeFolder": return [.boolean(try removeFolder(folder, handle))]
        case "entryList": return [.strings(try entries(of: folder, handle).map(\.name))]
        case "entriesList": return [try values(of: entries(of: folder, handle), handle) { .bytes(try self.bytes(of: $0, handle)) }]
        case "passwordList": return [try passwords(entries(of: folder, handle), handle)]
        case "mapList": return [try maps(entries(of: folder, handle), handle)]
        case "readEntryList", "readPasswordList", "readMapList":
            let pattern = NamePattern(call.arguments[2].text ?? "")
            let entries = try entries(of: folder, handle).filter { pattern.matches($0.name) }
            switch call.member {
            case "readPasswordList": return [try passwords(entries, handle)]
            case "readMapList": return [try maps(entries, handle)]
            default: return [try values(of: entries, handle) { .bytes(try self.bytes(of: $0, handle)) }]
            }
        default: return try entryMethod(call, in: folder, handle)
        }
    }

    private func passwords(_ entries: [WalletEntry], _ handle: WalletHandle) throws -> BusValue {
        try values(of: entries.filter { $0.kind == .password }, handle) { .secretText(try self.text(of: $0, handle)) }
    }

    private func maps(_ entries: [WalletEntry], _ handle: WalletHandle) throws -> BusValue {
        try values(of: entries.filter { $0.kind == .map }, handle) { .bytes(try self.bytes(of: $0, handle)) }
    }

    /// Returns the values of entries by their names, without entries that were deleted meanwhile.
    private func values(
        of entries: [WalletEntry], _ handle: WalletHandle, _ value: (WalletEntry) throws -> BusValue
    ) throws -> BusValue {
        var count = 0
        var found: [(name: String, value: BusValue)] = []
        for entry in entries {
            guard let read = try unlessGone({ try value(entry) }) else { continue }
            count += read.secret?.bytes.count ?? 0
            guard count <= SecretServiceLimits.answerBytesMax else {
                throw BusError(.limitsExceeded, "The entries of this folder are too large for one answer")
            }
            found.append((entry.name, read))
        }
        return .properties(found)
    }

    // MARK: Folders

    private func folders(of handle: WalletHandle) throws -> [String] {
        var names = WalletFolders.standard
        // A sandboxed application must not see names that other programs chose.
        if !access.isLimited(handle.client) { names += try walletFolders.names(in: handle.collection) }
        for kind in WalletEntry.kinds { names += try visibleEntries(having: [kind], handle).map(\.folder) }
        // Names are distinct by their bytes; Swift's strings would treat canonically equivalent ones as equal.
        return Dictionary(names.map { (Array($0.utf8), $0) }, uniquingKeysWith: { first, _ in first }).values.sorted()
    }

    func hasFolder(_ folder: String, _ handle: WalletHandle) throws -> Bool {
        if try WalletFolders.standard.contains(folder) || walletFolders.contain(folder, in: handle.collection) { return true }
        return try !allEntries(having: [WalletEntry.pair(folder: folder)], handle).isEmpty
    }

    /// Removes the entries of a folder that the client may use, and the folder. Returns whether it existed.
    private func removeFolder(_ folder: String, _ handle: WalletHandle) throws -> Bool {
        guard try hasFolder(folder, handle) else { return false }
        for entry in try visibleEntries(having: [WalletEntry.pair(folder: folder)], handle) {
            _ = try unlessGone { try delete(entry.identifier, in: handle.collection, by: handle.client) }
        }
        try walletFolders.delete(folder, in: handle.collection)
        folderSignal("folderListUpdated", [.string(handle.wallet)], of: handle)
        return true
    }

    /// Returns one entry for each name in a folder, among those that the client may use.
    private func entries(of folder: String, _ handle: WalletHandle) throws -> [WalletEntry] {
        let visible = try visibleEntries(having: [WalletEntry.pair(folder: folder)], handle)
        let owner = access.owner(for: handle.client)
        let byName = Dictionary(visible.map { (Array($0.name.utf8), $0) }, uniquingKeysWith: { $0.precedes($1, for: owner) ? $0 : $1 })
        return byName.values.sorted { $0.name < $1.name }
    }

    private func visibleEntries(having pairs: [SecretServiceAttributes.Pair], _ handle: WalletHandle) throws -> [WalletEntry] {
        try allEntries(having: pairs, handle).filter { try access.mayUse($0.item, $0.identifier, by: handle.client) }
    }

    func allEntries(having pairs: [SecretServiceAttributes.Pair], _ handle: WalletHandle) throws -> [WalletEntry] {
        try keychainItems.items(having: pairs, in: handle.collection).compactMap { WalletEntry($0.identifier, $0.item) }
    }

    /// Sends a signal to the clients that have the wallet open. It contains names of folders, so of the sandboxed applications only the one
    /// that made the change gets it.
    func folderSignal(_ member: String, _ values: [BusValue], of handle: WalletHandle) {
        let others = walletHandles.all {
            $0.collection == handle.collection && (!access.isLimited($0.client) || $0.client === handle.client)
        }
        for client in Set(others.map(\.client.name)) {
            for path in WalletInterface.paths {
                send(.signal(path: path, interface: WalletInterface.name, member: member, values, destination: client))
            }
        }
    }
}
