import VaubanRefusal

/// The destination of a backup.
protocol BackupTarget: AnyObject {
    /// The keybag of an earlier run; nil for a new backup.
    var keybag: [UInt8]? { get }
    /// Begins a run with the keybag to store. Returns the marks of items that need not be written again.
    func begin(_ keybag: [UInt8], _ cipher: FrameCipher) throws -> Set<BackupMark>
    /// Returns the kept items that should be written again nevertheless, so that obsolete data can be removed.
    func worthRewriting(of kept: Set<BackupMark>) -> Set<BackupMark>
    func write(_ records: [BackupRecord]) throws
    /// Completes a run: from now on the backup consists of the written items and the kept earlier ones.
    func finish(keeping: Set<BackupMark>, date: Int64) throws
}

/// The source of a restore.
protocol BackupSource {
    var keybag: [UInt8] { get }
    /// Verifies everything and returns the manifest.
    func verify(_ cipher: FrameCipher) throws -> BackupManifest
    /// Calls `body` with each item of the verified backup.
    func forEach(_ cipher: FrameCipher, manifest: BackupManifest, body: (BackupRecord) throws -> Void) throws
}
