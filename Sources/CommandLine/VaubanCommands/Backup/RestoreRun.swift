import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

/// One run of `vauban restore`: verifies the whole backup, then merges its items.
///
/// Each item that was replaced or left out is listed at once. If the run fails or is interrupted, the next run counts replaced items as
/// unchanged, and does not list them.
struct RestoreRun {
    private let client: ServiceClient
    private let source: any BackupSource
    private var progress = Progress()
    private(set) var counts: [BackupOutcome: Int] = [:]
    /// Items that were not restored, by name.
    private(set) var left: [(name: String, why: BackupOutcome)] = []
    /// The damaged parts of a backup.
    private var damaged: [BackupDamage] = []
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
        defer { progress.clear() }
        let manifest = try read(cipher)
        let total = manifest.itemCount
        var done = 0
        let steps = WholeSteps()
        let duty = Interruption.add { steps.end() }
        defer { Interruption.remove(duty) }
        try source.forEach(cipher, manifest: manifest) { record in
            if done % 100 == 0 { progress.show("Restoring: \(done) of \(total)") }
            done += 1
            let rest: SecretBytes? = SecretBytes(copying: record.rest)
            try steps.take {
                let (name, outcome) = try client.keychain.restore(record.item, rest: rest)
                note(outcome, of: name)
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

    /// Verifies the backup and returns its list of items; with `isDamaged`, lists what is damaged.
    private mutating func read(_ cipher: FrameCipher) throws -> BackupManifest {
        progress.show("Verifying the backup")
        guard isDamaged else { return try source.verify(cipher) }
        let found = try source.salvage(cipher)
        damaged = found.damaged
        for part in damaged { announce("Damaged: \(part.part)") }
        if found.hasNoList { announce("Damaged: the list. Deleted items and earlier secrets may have come back.") }
        if damaged.isEmpty, !found.hasNoList { announce("Nothing of the backup is damaged.") }
        return found.manifest
    }

    private mutating func note(_ outcome: BackupOutcome, of name: String) {
        counts[outcome, default: 0] += 1
        switch outcome {
        case .added, .unchanged: break
        case .replaced: announce("Replaced by the newer item of the backup: \(SafeText.visible(name))")
        case .kept, .olderKept, .otherDevice, .nameTaken:
            left.append((name, outcome))
            announce("Not restored: \(SafeText.visible(name)): \(outcome.words)")
        }
    }

    /// Prints a sentence between the progress lines.
    private func announce(_ sentence: String) {
        progress.clear()
        say(sentence)
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

extension BackupOutcome {
    fileprivate var words: String {
        switch self {
        case .added, .replaced, .unchanged: "it is here"
        case .kept: "the item here is newer, or is protected by an access control or the enclave, and was kept"
        case .olderKept:
            "the item here is older, but is protected by an access control or the enclave, and was kept; to restore the one in the backup, "
                + "delete it and restore again"
        case .otherDevice: "it stays on the device where it was backed up"
        case .nameTaken:
            "another item here has its name, and was kept; to restore the one in the backup, rename or delete it and restore again"
        }
    }
}
