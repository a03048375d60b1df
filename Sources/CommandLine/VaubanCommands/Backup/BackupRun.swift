import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// One run of `vauban backup`: lists the rows, copies those that the target lacks, and completes the backup.
struct BackupRun {
    private let session: Session
    private let target: any BackupTarget
    private var progress = Progress()
    private(set) var written = 0
    private(set) var unchanged = 0
    /// Items that are not in the backup, by name.
    private(set) var omitted: [(name: String, why: BackupOmission)] = []

    init(_ session: Session, _ target: any BackupTarget) {
        self.session = session
        self.target = target
    }

    /// Runs the backup.
    mutating func run(_ opener: BackupOpener) throws {
        let begun = try opener.begin(session, keybag: target.keybag, restores: false)
        guard case .begun(let keybag) = begun.reply, let key = begun.takeSecret() else { throw Refusal(.internalError) }
        let known = try target.begin(keybag, FrameCipher(key))
        var kept: Set<BackupMark> = []
        var rows: [BackupRow] = []
        while true {
            let next = try session.keychain.backupRows(after: rows.last?.row ?? 0)
            if next.isEmpty { break }
            rows += next
        }
        for row in rows where known.contains(BackupMark(row)) { kept.insert(BackupMark(row)) }
        unchanged = kept.count
        kept.subtract(target.worthRewriting(of: kept))
        let missing = rows.filter { !kept.contains(BackupMark($0)) }
        let rewritten = unchanged - kept.count
        try copy(missing)
        written -= rewritten
        try target.finish(keeping: kept, date: MachineClock.referenceMicroseconds)
        progress.clear()
    }

    private mutating func copy(_ missing: [BackupRow]) throws {
        var segment: [BackupRecord] = []
        var bytes = 0
        var next = 0
        while next < missing.count {
            progress.show("Backing up: \(next) of \(missing.count)")
            let batch = missing[next..<min(next + Self.batchRows, missing.count)]
            let entries = try session.keychain.copyRows(batch.map(\.row))
            guard !entries.isEmpty else { throw Refusal(.internalError, "the keychain copied nothing") }
            for (wanted, entry) in zip(batch, entries) {
                next += 1
                switch entry.reply {
                case .item(wanted.row, let item):
                    let rest = entry.takeBytes()
                    segment.append(BackupRecord(mark: BackupMark(wanted), item: item, rest: rest))
                    bytes += rest.count + item.attributes.count
                    written += 1
                case .omitted(wanted.row, let name, let why): if !name.isEmpty { omitted.append((name, why)) }
                default: throw Refusal(.internalError, "the keychain copied another row")
                }
                if bytes >= BackupFormat.segmentBytes {
                    try target.write(segment)
                    (segment, bytes) = ([], 0)
                }
            }
        }
        if !segment.isEmpty { try target.write(segment) }
    }

    /// The number of rows in one request.
    private static let batchRows = 500
}

extension BackupMark {
    init(_ row: BackupRow) { self.init(item: row.item, mark: row.mark) }
}
