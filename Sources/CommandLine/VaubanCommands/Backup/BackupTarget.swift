import VaubanRefusal

/// The destination of a backup.
protocol BackupTarget: AnyObject {
    /// The keybag of an earlier run; nil for a new backup.
    var keybag: [UInt8]? { get }
    /// What earlier runs recorded, from `begin` on.
    var memory: BackupMemory { get }
    /// The digest of the earlier backup's manifest, from `begin` on; nil if there is none, or it is incomplete.
    var list: [UInt8]? { get }
    /// Whether the destination records the number of the keychain's last backup.
    var remembersRuns: Bool { get }
    /// The damaged parts that `begin` found and left out of the backup, with their items.
    var damaged: [BackupDamage] { get }
    /// Whether the manifest of an earlier backup was damaged or missing, so that `begin` rebuilt it from the existing parts.
    var hasNoList: Bool { get }
    /// The number of earlier parts that `begin` has read again, and the number of all earlier parts.
    var checked: (parts: Int, all: Int) { get }
    /// The number of files that `finish` kept because their content is unknown.
    var unknownFiles: Int { get }
    /// Begins a run with the keybag to store. Returns the marks of items that need not be written again.
    func begin(_ keybag: [UInt8], _ cipher: FrameCipher) throws -> Set<BackupMark>
    /// Returns the kept items that should be written again nevertheless, so that obsolete data can be removed.
    func worthRewriting(of kept: Set<BackupMark>) -> Set<BackupMark>
    /// Records the keychain's database in a backup that no run has completed yet, so that the next run continues it if this one is killed.
    func noteDatabase(of run: (database: Int64, number: Int64)) throws
    func write(_ records: [BackupRecord]) throws
    /// Completes a run: from now on the backup consists of the written items and the kept earlier ones.
    func finish(keeping: Set<BackupMark>, _ memory: BackupMemory) throws
}

/// A part of a backup that is missing or was altered.
struct BackupDamage {
    let part: String
    let items: [BackupMark]
    /// The expected digest, if the part exists with a different one.
    var rotted: [UInt8]?
}

/// The intact content of a damaged backup.
struct SalvagedBackup {
    var manifest = BackupManifest(date: 0)
    var damaged: [BackupDamage] = []
    /// Whether the manifest was rebuilt from the parts, so that earlier values and deleted items may be among the items.
    var hasNoList = false
}

/// The source of a restore.
protocol BackupSource {
    var keybag: [UInt8] { get }
    /// Verifies everything and returns the manifest.
    func verify(_ cipher: FrameCipher) throws -> BackupManifest
    /// Returns the intact parts, and the damaged ones.
    func salvage(_ cipher: FrameCipher) throws -> SalvagedBackup
    /// Calls `body` with each item of the verified backup.
    func forEach(_ cipher: FrameCipher, manifest: BackupManifest, body: (BackupRecord) throws -> Void) throws
    /// Records that this database contains everything in the backup as of this manifest, so that the backup may be continued from it.
    func remember(_ run: (database: Int64, number: Int64), of manifest: BackupManifest, _ cipher: FrameCipher)
    /// Records that this database may lack something of the backup, so that its next run asks the user.
    func forget(_ database: Int64, _ cipher: FrameCipher)
}
