import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

/// One run of `vauban restore`: verifies the whole backup, then merges its items.
struct RestoreRun {
    private let client: ServiceClient
    private let source: any BackupSource
    private var progress = Progress()
    private(set) var counts: [BackupOutcome: Int] = [:]
    /// Items that were not restored, by name.
    private(set) var left: [(name: String, why: BackupOutcome)] = []
    /// Items whose value here was older and was replaced, by name.
    private(set) var replaced: [String] = []
    /// The damaged parts of a backup.
    private(set) var damaged: [BackupDamage] = []
    private(set) var hasNoList = false
    /// The number of items known to be in damaged parts only, and not in this keychain either.
    private(set) var missing = 0
    private let isDamaged: Bool
    /// Whether everything of the backup is in the keychain now, or something newer in its place.
    var isComplete: Bool { damaged.isEmpty && left.allSatisfy { $0.why == .kept } }

    /// - Parameter isDamaged: Whether to restore the intact content of a damaged backup.
    init(_ client: ServiceClient, _ source: any BackupSource, isDamaged: Bool = false) {
        self.client = client
        self.source = source
        self.isDamaged = isDamaged
    }

    mutating func run(_ opener: BackupOpener) throws {
        let (client, source) = (client, source)
        let begun = try opener.begin(client, keybag: source.keybag, restores: true)
        guard let key = begun.takeSecret() else { throw Refusal(.internalError) }
        let cipher = FrameCipher(key)
        progress.show("Verifying the backup")
        let manifest: BackupManifest
        if isDamaged {
            let found = try source.salvage(cipher)
            (manifest, damaged, hasNoList) = (found.manifest, found.damaged, found.hasNoList)
        } else {
            manifest = try source.verify(cipher)
        }
        let total = manifest.itemCount
        var done = 0
        defer { progress.clear() }
        try source.forEach(cipher, manifest: manifest) { record in
            if done % 100 == 0 { progress.show("Restoring: \(done) of \(total)") }
            done += 1
            let rest: SecretBytes? = SecretBytes(copying: record.rest)
            let (name, outcome) = try client.keychain.restore(record.item, rest: rest)
            counts[outcome, default: 0] += 1
            switch outcome {
            case .added, .unchanged: break
            case .replaced: replaced.append(name)
            case .kept, .olderKept, .otherDevice, .nameTaken: left.append((name, outcome))
            }
        }
        // A database that lacks something of the backup, or has something older in its place, must not continue it by itself.
        if let run = try? client.keychain.backupRun(isNext: false) {
            if isComplete { source.remember(run, of: manifest, cipher) }
            if left.contains(where: { $0.why == .olderKept || $0.why == .nameTaken }) { source.forget(run.database, cipher) }
        }
        if !damaged.isEmpty {
            try countMissing(manifest)
        }
    }

    private mutating func countMissing(_ manifest: BackupManifest) throws {
        var absent = Set(damaged.flatMap(\.items).map(\.item)).subtracting(manifest.segments.flatMap(\.items).map(\.item))
        var row: Int64 = 0
        while !absent.isEmpty {
            let next = try client.keychain.backupRows(after: row)
            guard let last = next.last else { break }
            absent.subtract(next.map(\.item))
            row = last.row
        }
        missing = absent.count
    }
}
