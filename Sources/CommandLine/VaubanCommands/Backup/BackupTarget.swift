import VaubanRefusal

/// The destination of a backup.
protocol BackupTarget: AnyObject {
    /// The keybag of an earlier run; nil for a new backup.
    var keybag: [UInt8]? { get }
    /// What earlier runs left to know, from `begin` on.
    var memory: BackupMemory { get }
    /// The digest of the list of the earlier backup, from `begin` on; nil if there is none, or it is not whole.
    var list: [UInt8]? { get }
    /// Whether the number of its last backup is remembered there.
    var remembersRuns: Bool { get }
    /// What `begin` found damaged and left out of the backup, with its items.
    var damaged: [BackupDamage] { get }
    /// Whether the list of an earlier backup was damaged or missing, so that `begin` made it again from what is there.
    var hasNoList: Bool { get }
    /// How many earlier parts `begin` has read again, and how many there are.
    var checked: (parts: Int, all: Int) { get }
    /// Begins a run with the keybag to store. Returns the marks of items that need not be written again.
    func begin(_ keybag: [UInt8], _ cipher: FrameCipher) throws -> Set<BackupMark>
    /// Returns the kept items that should be written again nevertheless, so that obsolete data can be removed.
    func worthRewriting(of kept: Set<BackupMark>) -> Set<BackupMark>
    /// Has a backup that no run has completed yet remember the keychain's database, so that the next run goes on by itself if this one is
    /// killed.
    func noteDatabase(of run: (database: Int64, number: Int64)) throws
    func write(_ records: [BackupRecord]) throws
    /// Completes a run: from now on the backup consists of the written items and the kept earlier ones.
    func finish(keeping: Set<BackupMark>, _ memory: BackupMemory) throws
}

/// A part of a backup that is missing or was altered.
struct BackupDamage {
    let part: String
    let items: [BackupMark]
    /// The digest that the part should have, if it is there with another one.
    var rotted: [UInt8]?
}

/// What is whole of a damaged backup.
struct SalvagedBackup {
    var manifest = BackupManifest(date: 0)
    var damaged: [BackupDamage] = []
    /// Whether the list was made again from the parts, so that earlier values and deleted items may be among them.
    var hasNoList = false
}

/// The source of a restore.
protocol BackupSource {
    var keybag: [UInt8] { get }
    /// Verifies everything and returns the manifest.
    func verify(_ cipher: FrameCipher) throws -> BackupManifest
    /// Returns what is whole, and what is not.
    func salvage(_ cipher: FrameCipher) throws -> SalvagedBackup
    /// Calls `body` with each item of the verified backup.
    func forEach(_ cipher: FrameCipher, manifest: BackupManifest, body: (BackupRecord) throws -> Void) throws
    /// Remembers that everything of the backup, as this list has it, is in this database, so that it may be continued from there.
    func remember(_ run: (database: Int64, number: Int64), of manifest: BackupManifest, _ cipher: FrameCipher)
}
