internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes

/// Reads all items of the provider that owns the name now, and reports them to `vauban import`, which started this process.
struct ProviderReading {
    private let provider: OtherProvider
    /// The provider's name as users know it.
    private let name: String
    private let mayPrompt: Bool
    private let report = TransferReport()

    /// Reports all items, or why they cannot be read. Throws only if the report cannot be written.
    static func run(_ bus: BusConnection, mayPrompt: Bool) throws {
        TransferReport.endAfterReader()
        try TransferReport().reporting { report in
            let (owner, name) = try self.owner(bus)
            try bus.watchClients()
            try report.write(.provider(name))
            try ProviderReading(provider: OtherProvider(bus, owner: owner), name: name, mayPrompt: mayPrompt).read()
        }
    }

    /// Reports the number of items and which collections are locked. Unlocks nothing and reads no secret.
    static func count(_ bus: BusConnection) throws {
        try TransferReport().reporting { report in
            let (owner, name) = try self.owner(bus)
            try report.write(.provider(name))
            let provider = try OtherProvider(bus, owner: owner)
            let session = provider.sessionCollection()
            var count = 0
            for path in try provider.collections() where path != session && OtherCollection.identifier(of: path) != MemoryItems.collection {
                let found = try provider.collection(path)
                count += found.items.count
                if found.isLocked { try report.write(.left(place: TransferReport.line(found.label), reason: "it is locked")) }
            }
            try report.write(.total(min(count, TransferEntry.totalMax)))
            try report.write(.end)
        }
    }

    private static func owner(_ bus: BusConnection) throws(Refusal) -> (owner: String, name: String) {
        guard let owner = bus.owner(of: SecretServiceProgram.name), let process = bus.process(of: owner) else {
            throw Refusal(.unavailable, "No program provides the Secret Service now; start the one that has your items, and try again")
        }
        let program = SecretServiceProgram.program(of: process)
        guard program != "vauban-secret-s" else {
            throw Refusal(
                .badParameter,
                "Vauban provides the Secret Service already. To import from another provider, end vauban-secret-service (process "
                    + "\(process)), start the other provider, and try again")
        }
        return (owner, names[program] ?? (program.isEmpty ? "process \(process)" : program))
    }

    static let kdeWallet = "KDE Wallet"
    private static let gnomeKeyring = "GNOME Keyring"

    /// The names of providers as users know them, by the name of their process, which the kernel cuts to 15 bytes.
    private static let names = [
        "gnome-keyring-d": gnomeKeyring, "keepassxc": "KeePassXC", "oo7-daemon": "oo7", "kwalletd5": kdeWallet,
        "kwalletd6": kdeWallet, "ksecretd": kdeWallet,
    ]

    private func read() throws {
        var opened: [String] = []
        defer { provider.lock(opened) }
        var collections: [OtherCollection] = []
        for path in try provider.collections() {
            if let collection = try openCollection(path, &opened) { collections.append(collection) }
        }
        try report.write(.total(collections.reduce(0) { $0 + $1.items.count }))
        for collection in collections { try read(collection) }
        provider.lock(opened)
        opened = []
        try report.write(.end)
    }

    /// Returns a collection with its items, unlocked. Returns nil if it cannot be moved, which it reports. Adds what it unlocked to
    /// `opened`.
    private func openCollection(_ path: String, _ opened: inout [String]) throws -> OtherCollection? {
        let identifier = OtherCollection.identifier(of: path)
        var found = try provider.collection(path)
        let label = TransferReport.line(found.label.isEmpty ? identifier : found.label)
        if path == provider.sessionCollection() || identifier == MemoryItems.collection {
            guard !found.items.isEmpty else { return nil }
            try report.write(.notice("Items in \(label) (\(found.items.count)) last until you log out, and are not imported."))
            return nil
        }
        if found.isLocked {
            if mayPrompt { try report.write(.notice("\(label) is locked; answer the prompt of \(name).")) }
            // Recorded before the unlock, since the user may answer after the reader of the report has left.
            opened.append(path)
            guard try unlock([path]) else {
                opened.removeLast()
                try report.write(.left(place: label, reason: "it is locked; unlock it in \(name), and import again"))
                return nil
            }
            found = try provider.collection(path)
        }
        return OtherCollection(path: path, label: found.label, items: try items(found.items, label).map(withSchema))
    }

    /// Adds the generic schema, which GNOME Keyring adds only when it reads its files again. Imports before and after that then find the
    /// same item.
    private func withSchema(_ item: OtherItem) -> OtherItem {
        let schema = SecretServiceAttributes.genericSchema
        guard name == Self.gnomeKeyring, !item.attributes.contains(where: { $0.name == schema.name }) else { return item }
        var item = item
        item.attributes.append(schema)
        return item
    }

    /// Returns the items of a collection. Some providers lock items individually and prompt the user for each program.
    private func items(_ paths: [String], _ label: String) throws -> [OtherItem] {
        var items: [OtherItem] = []
        for path in paths {
            do {
                items.append(try provider.item(path))
            } catch let failure as BusError where !failure.isOfProvider {
                try report.write(.left(place: "\(label)/?", reason: "the provider does not describe it: \(failure.line)"))
            }
        }
        let locked = items.filter(\.isLocked).map(\.path)
        guard !locked.isEmpty, try unlock(locked) else { return items }
        return items.map { $0.isLocked ? (try? provider.item($0.path)) ?? $0 : $0 }
    }

    /// Unlocks collections or items. If the provider fails, they stay locked.
    private func unlock(_ paths: [String]) throws -> Bool {
        do {
            return try provider.unlock(paths, mayPrompt: mayPrompt)
        } catch let failure as BusError where !failure.isOfProvider {
            return false
        }
    }

    private func read(_ collection: OtherCollection) throws {
        if let record = collection.record { try report.write(.collection(record)) }
        let label = TransferReport.line(collection.label.isEmpty ? collection.identifier : collection.label)
        for (item, instance) in zip(collection.items, collection.instances) {
            let place = "\(label)/\(TransferReport.line(item.label))"
            do {
                let (secret, contentType) = try provider.secret(of: item.path)
                let record = try collection.record(of: item, instance: instance, contentType: contentType, provider: name)
                if let fault = Self.fault(record, secret) {
                    try report.write(.left(place: place, reason: fault))
                } else {
                    try report.write(.item(place: place, record), secret: secret)
                }
            } catch let failure as BusError where !failure.isOfProvider {
                let reason = item.isLocked ? "it is locked; unlock it in \(name), and import again" : failure.line
                try report.write(.left(place: place, reason: reason))
            }
        }
    }

    /// Returns why an item cannot be stored; nil if it can.
    static func fault(_ record: ItemRecord, _ secret: SharedSecret) -> String? {
        if secret.bytes.count > SecretServiceLimits.secretBytesMax { return "its secret is larger than 1 MiB" }
        if ItemMapping.isHidden(record) { return "its service is a name that Vauban uses itself" }
        let size = record.attributes.reduce(0) { $0 + $1.value.equalityBytes.count }
        return size > SecretServiceLimits.recordBytesMax ? "its label and attributes exceed the size of an item" : nil
    }
}

extension BusError {
    /// Whether the reply did not come in time.
    var isTimeout: Bool { name == "org.freedesktop.DBus.Error.Timeout" || name == "org.freedesktop.DBus.Error.TimedOut" }

    /// Whether the provider has left the bus or does not reply.
    var isOfProvider: Bool {
        ["ServiceUnknown", "NameHasNoOwner", "NoReply", "Timeout", "TimedOut", "Disconnected"]
            .contains { name == "org.freedesktop.DBus.Error.\($0)" }
    }

    /// The error in one line, for the user.
    var line: String { TransferReport.line(text.isEmpty ? name : text) }
}
