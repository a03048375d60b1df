import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

/// One run of `vauban restore`: verifies the whole backup, then merges its items.
struct RestoreRun {
    private let session: Session
    private let source: any BackupSource
    private var progress = Progress()
    private(set) var counts: [BackupOutcome: Int] = [:]
    /// Items that were not restored, by name.
    private(set) var left: [(name: String, why: BackupOutcome)] = []

    init(_ session: Session, _ source: any BackupSource) {
        self.session = session
        self.source = source
    }

    mutating func run(_ opener: BackupOpener) throws {
        let (session, source) = (session, source)
        let begun = try opener.begin(session, keybag: source.keybag, restores: true)
        guard let key = begun.takeSecret() else { throw Refusal(.internalError) }
        let cipher = FrameCipher(key)
        progress.show("Verifying the backup")
        let manifest = try source.verify(cipher)
        let total = manifest.itemCount
        var done = 0
        defer { progress.clear() }
        try source.forEach(cipher, manifest: manifest) { record in
            if done % 100 == 0 { progress.show("Restoring: \(done) of \(total)") }
            done += 1
            let rest: SecretBytes? = SecretBytes(copying: record.rest)
            let (name, outcome) = try session.keychain.restore(record.item, rest: rest)
            counts[outcome, default: 0] += 1
            if outcome == .otherDevice || outcome == .nameTaken || outcome == .kept { left.append((name, outcome)) }
        }
    }
}
