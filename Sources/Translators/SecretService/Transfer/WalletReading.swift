internal import VaubanKeychainModel
internal import VaubanRefusal
internal import VaubanSecretBytes

/// Reads all entries of the KWallet that owns its bus name now, and reports them to `vauban import`, which started this process
/// (Specs/kwallet.md, "Import").
struct WalletReading {
    private let wallets: OtherWallets
    private let mayPrompt: Bool
    private let report: TransferReport
    private let name = ProviderReading.kdeWallet

    /// A wallet that this process has opened.
    private struct Opened {
        let handle: Int32
        let wallet: String
        let wasOpen: Bool
        let identifier: String
        var entries: [(folder: String, name: String)] = []
        var emptyFolders: [String] = []
    }

    /// Reports all entries, or why they cannot be read. Throws only if the report cannot be written.
    static func run(_ bus: BusConnection, mayPrompt: Bool) throws {
        TransferReport.endAfterReader()
        try TransferReport().reporting { report in
            let (owner, path) = try owner(bus)
            try report.write(.provider(ProviderReading.kdeWallet))
            try WalletReading(wallets: OtherWallets(bus, owner: owner, path: path), mayPrompt: mayPrompt, report: report).read()
            // All wallets are closed before the reader of the report continues.
            try report.write(.end)
        }
    }

    /// Reports the number of wallets. Counting their entries would require opening them, for which KWallet may prompt.
    static func count(_ bus: BusConnection) throws {
        try TransferReport().reporting { report in
            let (owner, path) = try owner(bus)
            try report.write(.provider(ProviderReading.kdeWallet))
            let wallets = try OtherWallets(bus, owner: owner, path: path).names()
            try report.write(.total(min(wallets.count, TransferEntry.totalMax)))
            try report.write(.end)
        }
    }

    /// Returns the owner of KWallet's name, with that of Plasma 6 preferred, and its object. The owner of just one of the names may be
    /// Vauban's own service.
    private static func owner(_ bus: BusConnection) throws(Refusal) -> (owner: String, path: String) {
        var own: Int32?
        for (name, path) in zip(WalletInterface.busNames, WalletInterface.paths).reversed() {
            guard let owner = bus.owner(of: name), let process = bus.process(of: owner) else { continue }
            guard SecretServiceProgram.program(of: process) == "vauban-secret-s" else { return (owner, path) }
            own = process
        }
        if let own {
            throw Refusal(
                .badParameter,
                "Vauban serves KDE's programs already. To import from KWallet, run vauban disable secret-service, end "
                    + "vauban-secret-service (process \(own)), open KDE's wallet manager, and try again")
        }
        throw Refusal(.unavailable, "KWallet does not run now; open KDE's wallet manager, and try again")
    }

    private func read() throws {
        let names = try wallets.names()
        let identifiers = WalletIdentifiers(names, default: try wallets.defaultName())
        var opened: [Opened] = []
        defer { for wallet in opened { wallets.close(wallet.handle, wallet.wallet, wasOpen: wallet.wasOpen) } }
        for wallet in names {
            guard let new = try open(wallet, identifiers.identifier(of: wallet)) else { continue }
            opened.append(new)
            try list(&opened[opened.count - 1])
        }
        try report.write(.total(opened.reduce(0) { $0 + $1.entries.count }))
        for wallet in opened {
            let label = identifiers.label(of: wallet.wallet)
            if let record = OtherCollection.record(wallet.identifier, label: label) { try report.write(.collection(record)) }
            for folder in wallet.emptyFolders {
                try report.write(.collection(WalletFolders.record(folder, in: wallet.identifier)))
            }
            for entry in wallet.entries { try read(entry, of: wallet) }
        }
    }

    /// Opens a wallet; nil if it stays closed, which it reports.
    private func open(_ wallet: String, _ identifier: String) throws -> Opened? {
        let label = TransferReport.line(wallet)
        let wasOpen = try wallets.isOpen(wallet)
        if !wasOpen, mayPrompt { try report.write(.notice("\(label) is closed; if \(name) prompts you, enter its password.")) }
        guard wasOpen || mayPrompt, let handle = try wallets.open(wallet) else {
            try report.write(.left(place: label, reason: "it is closed; open it in \(name), and import again"))
            return nil
        }
        return Opened(handle: handle, wallet: wallet, wasOpen: wasOpen, identifier: identifier)
    }

    private func list(_ opened: inout Opened) throws {
        for folder in try wallets.folders(opened.handle) {
            let names = try wallets.entries(opened.handle, folder: folder)
            opened.entries += names.map { (folder, $0) }
            if names.isEmpty, !WalletFolders.standard.contains(folder) {
                if folder.utf8.count <= SecretServiceLimits.entryNameBytesMax {
                    opened.emptyFolders.append(folder)
                } else {
                    try report.write(.left(place: TransferReport.line("\(opened.wallet)/\(folder)"), reason: Self.longName))
                }
            }
        }
        // A wallet that was closed meanwhile has no folders and no entries.
        if try !wallets.isOpen(opened.handle) {
            try report.write(.left(place: TransferReport.line(opened.wallet), reason: OtherWallets.closed.line))
        }
    }

    private static let longName = "its name is longer than 16,384 bytes"

    private func read(_ entry: (folder: String, name: String), of opened: Opened) throws {
        let place = TransferReport.line("\(opened.wallet)/\(entry.folder)/\(entry.name)")
        do {
            guard let kind = try wallets.kind(opened.handle, folder: entry.folder, name: entry.name) else {
                throw try wallets.isOpen(opened.handle) ? BusError(.failed, "KWallet does not know its type") : OtherWallets.closed
            }
            guard max(entry.folder.utf8.count, entry.name.utf8.count) <= SecretServiceLimits.entryNameBytesMax else {
                throw BusError(.failed, Self.longName)
            }
            let secret = try wallets.value(opened.handle, folder: entry.folder, name: entry.name, kind)
            let record = try record(entry, kind, of: opened)
            if let fault = ProviderReading.fault(record, secret) {
                try report.write(.left(place: place, reason: fault))
            } else {
                try report.write(.item(place: place, record), secret: secret)
            }
        } catch let failure as BusError where !failure.isOfProvider {
            try report.write(.left(place: place, reason: failure.line))
        }
    }

    /// Returns the record of an entry in the form in which KWallet's interface stores it, with its origin.
    private func record(
        _ entry: (folder: String, name: String), _ kind: WalletEntry.Kind, of opened: Opened
    ) throws -> ItemRecord {
        let edit = ItemEdit(
            label: WalletEntry.label(folder: entry.folder, name: entry.name),
            attributes: WalletEntry.attributes(folder: entry.folder, name: entry.name, kind), contentType: kind.contentType)
        var attributes = try ItemMapping.attributes(edit, in: opened.identifier, instance: [])
        attributes[.comment] = .text("imported from: \(name), \(TransferReport.line(opened.wallet))")
        return ItemRecord(kind: .genericPassword, attributes: attributes)
    }
}
