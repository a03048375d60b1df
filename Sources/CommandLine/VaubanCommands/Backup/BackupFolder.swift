import Foundation
import Glibc
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal

/// A backup in a folder, to which each run adds only what has changed.
final class BackupFolder: BackupTarget {
    let keybag: [UInt8]?
    private let path: String
    /// A lock that excludes other runs while this one writes.
    private let lock: Descriptor
    private var cipher: FrameCipher?
    private var earlier = BackupManifest(date: 0)
    /// Whether the existing manifest is intact, so that it is kept beside the next one.
    private var hasWholeManifest = false
    private var written: [BackupManifest.Segment] = []
    /// The keybag that this run found or wrote.
    private var stored: [UInt8]?
    /// The keybag to store in its place.
    private var renewed: [UInt8]?
    /// The segment files that existed when this run began. Files that another machine has written since are not removed.
    private var present: Set<String> = []
    /// The segments of the list with which this run began, damaged ones included.
    private var listed: [[UInt8]] = []
    let remembersRuns = true
    private(set) var list: [UInt8]?
    private(set) var memory = BackupMemory()
    private(set) var damaged: [BackupDamage] = []
    private(set) var hasNoList = false
    private(set) var checked = (parts: 0, all: 0)
    private(set) var unknownFiles = 0

    /// Opens a folder, or creates it.
    /// - Parameter continuesOnly: Whether to continue an existing backup only. If there is none, the medium may not be mounted.
    init(path: String, continuesOnly: Bool = false) throws(Refusal) {
        self.path = path
        if continuesOnly, !StoredBackupFolder.hasContent(path) { throw Self.notThere(path) }
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw NewFile.refusal("make the folder \(SafeText.visible(path))", errno) }
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw NewFile.refusal("open \(SafeText.visible(path))", errno) }
        lock = Descriptor(number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            throw Refusal(.unavailable, "Another backup writes to \(SafeText.visible(path)); wait for its end, then try again")
        }
        keybag = try StoredBackupFolder.keybag(in: path)
        // Never use a folder with other content, and never start a backup over the remains of one that has lost its keys.
        if keybag == nil {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            let entries = names.filter { !BackupFiles.isMarker($0) || StoredBackupFolder.isBeingCopied($0) }
            guard Set(entries).isSubset(of: ["segments", "keybag.partial"]), !StoredBackupFolder.hasContent(path) else {
                throw Refusal(.badParameter, "\(SafeText.visible(path)) is not a folder of vauban backup; choose an empty or a new one")
            }
            // An earlier run may have made the folder and been killed before it synchronized the name.
            try BackupFiles.syncName(ofFolder: path)
        }
    }

    static func notThere(_ path: String) -> Refusal {
        Refusal(.unavailable, "There is no backup in \(SafeText.visible(path)) now; it may not be mounted")
    }

    // MARK: Writing

    func begin(_ keybag: [UInt8], _ cipher: FrameCipher) throws -> Set<BackupMark> {
        self.cipher = cipher
        if mkdir(path + "/segments", 0o700) != 0, errno != EEXIST {
            throw NewFile.refusal("make the folder \(SafeText.visible(path))/segments", errno)
        }
        present = Set(try FileManager.default.contentsOfDirectory(atPath: path + "/segments").filter { !BackupFiles.isMarker($0) })
        stored = self.keybag
        if stored == nil {
            try store(keybag)
            return []
        }
        // The user may still decide that this run writes nothing.
        if stored != keybag { renewed = keybag }
        memory = StoredBackupFolder.memory(in: path, cipher)
        (earlier, hasWholeManifest) = try StoredBackupFolder.manifestToContinue(in: path, cipher, skipsUnreadable: false)
        hasNoList = !hasWholeManifest && !earlier.segments.isEmpty
        if hasWholeManifest { list = earlier.digest }
        listed = earlier.segments.map(\.digest)
        try dropDamaged()
        return Set(earlier.segments.flatMap(\.items))
    }

    private func store(_ keybag: [UInt8]) throws(Refusal) {
        let (file, header) = (path + "/keybag", BackupFormat.header(keybag))
        try BackupFiles.replace(file, with: header)
        guard try BackupFiles.read(file, max: header.count, fromMedium: true) == header else {
            throw Refusal(.storageFailed, "the keys of the backup that were written cannot be read")
        }
        stored = keybag
    }

    /// Leaves out the segments that are missing or were altered, so that their items are written again from the keychain. Compares the
    /// sizes of all segments, and reads those that are due. Removes no file, since the user may not let this run continue.
    private func dropDamaged() throws(Refusal) {
        let now = MachineClock.referenceMicroseconds
        let due = memory.due(of: earlier.segments.map(\.digest), at: now)
        checked = (due.count, earlier.segments.count)
        var whole: [BackupManifest.Segment] = []
        for segment in earlier.segments {
            let isDue = due.contains(segment.digest)
            if try isWhole(segment, isRead: isDue) {
                if isDue { memory.checked[segment.digest] = now }
                whole.append(segment)
            } else {
                let isThere = access(StoredBackupFolder.path(of: segment.digest, in: path), F_OK) == 0
                damaged.append(
                    BackupDamage(
                        part: StoredBackupFolder.name(of: segment), items: segment.items, rotted: isThere ? segment.digest : nil))
            }
        }
        earlier.segments = whole
    }

    /// Returns whether a segment exists with its size and, if it is read, its digest. A temporary read error does not count as damage: a
    /// wrong digest is read twice, and every other fault throws.
    private func isWhole(_ segment: BackupManifest.Segment, isRead: Bool) throws(Refusal) -> Bool {
        let file = StoredBackupFolder.path(of: segment.digest, in: path)
        var status = stat()
        guard stat(file, &status) == 0 else {
            let code = errno
            if code == ENOENT { return false }
            throw Self.unreadable(file, "\(SystemError("read it", code: code))")
        }
        guard status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == segment.size else { return false }
        guard isRead else { return true }
        for _ in 1...2 {
            let found: [UInt8]?
            do throws(Refusal) {
                found = try BackupFiles.read(file, max: BackupFormat.frameBytesMax, fromMedium: true)
            } catch {
                throw Self.unreadable(file, error.message)
            }
            guard let found else { return false }
            if BackupManifest.digest(found) == segment.digest { return true }
        }
        return false
    }

    static func unreadable(_ file: String, _ fault: String) -> Refusal {
        Refusal(
            .unavailable,
            "\(SafeText.visible(file)) cannot be read now: \(fault). Nothing was backed up. If that stays so, move the file away: "
                + "what the keychain has of it is then written again")
    }

    func worthRewriting(of kept: Set<BackupMark>) -> Set<BackupMark> {
        var sparse: Set<BackupMark> = []
        for segment in earlier.segments {
            // Items that are no longer in the keychain cannot be written again, so their segment stays.
            let left = segment.items.filter(kept.contains)
            if left.count * 2 < segment.total { sparse.formUnion(left) }
        }
        return sparse
    }

    func noteDatabase(of run: (database: Int64, number: Int64)) throws {
        guard let cipher, !hasWholeManifest, earlier.segments.isEmpty, memory.databases.isEmpty else { return }
        memory.databases = [run.database: run.number]
        try BackupFiles.replace(path + "/memory", with: try cipher.seal(memory.bytes, .memory))
    }

    func write(_ records: [BackupRecord]) throws {
        guard let cipher else { throw Refusal(.internalError) }
        let sealed = try cipher.seal(try records.flatMap { try $0.encoded() }, .segment)
        let segment = BackupManifest.Segment(sealed: sealed, records)
        let file = StoredBackupFolder.path(of: segment.digest, in: path)
        try BackupFiles.replace(file, with: sealed)
        guard try BackupFiles.read(file, max: BackupFormat.frameBytesMax, fromMedium: true) == sealed else {
            throw Refusal(.storageFailed, "a part of the backup that was written cannot be read")
        }
        written.append(segment)
    }

    func finish(keeping: Set<BackupMark>, _ memory: BackupMemory) throws {
        guard let cipher else { throw Refusal(.internalError) }
        // The lock may exclude only runs on this machine.
        guard StoredBackupFolder.hasContent(path) else { throw Self.notThere(path) }
        guard try StoredBackupFolder.keybag(in: path) == stored, StoredBackupFolder.list(in: path, cipher) == list else {
            throw Refusal(.unavailable, "Another machine is writing this folder; try again")
        }
        if let renewed { try store(renewed) }
        var manifest = BackupManifest(date: memory.date)
        for var segment in earlier.segments {
            segment.items.removeAll { !keeping.contains($0) }
            if !segment.items.isEmpty { manifest.segments.append(segment) }
        }
        manifest.segments += written
        try remember(memory, for: manifest, cipher: cipher)
        let sealed = try cipher.seal(manifest.bytes, .manifest)
        let older = (try? StoredBackupFolder.manifest(in: path, cipher, "manifest.previous"))?.segments ?? []
        if hasWholeManifest { try BackupFiles.keep(path + "/manifest", as: path + "/manifest.previous") }
        try BackupFiles.replace(path + "/manifest", with: sealed)
        guard try BackupFiles.read(path + "/manifest", max: BackupFormat.manifestBytesMax, fromMedium: true) == sealed else {
            throw Refusal(.storageFailed, "the list of the backup that was written cannot be read")
        }
        // From here on the new backup is valid. Keep an altered file as long as it is the only copy of an item, so that it can be repaired.
        let known: [[UInt8]] = listed + older.map(\.digest) + self.memory.rotted.keys
        removeUnnamed(besides: manifest.segments.map(\.digest) + memory.rotted.keys, known: known, cipher)
    }

    /// Removes the files that neither the written list nor the previous one names. A file of unknown content stays, since items may be
    /// only in it.
    /// - Parameters:
    ///   - used: The segments that stay, besides those of the previous list.
    ///   - known: Segments whose items this run or an earlier one knew, so that they can be removed even if they were altered.
    private func removeUnnamed(besides used: [[UInt8]], known: [[UInt8]], _ cipher: FrameCipher) {
        var used = used
        var knowsPrevious = true
        if hasWholeManifest {
            // The list with which this run began is the previous one now.
            used += listed
        } else {
            do throws(Refusal) {
                used += try StoredBackupFolder.manifest(in: path, cipher, "manifest.previous")?.segments.map(\.digest) ?? []
            } catch {
                knowsPrevious = false
            }
        }
        let knownNames = Set(known.map(StoredBackupFolder.hex))
        for name in present.subtracting(used.map(StoredBackupFolder.hex)) {
            let file = "\(path)/segments/\(name)"
            // Other names are those of parts that were not written completely.
            if name.utf8.count != 64 || (knowsPrevious && (knownNames.contains(name) || StoredBackupFolder.isWhole(file, name: name))) {
                unlink(file)
            } else {
                unknownFiles += 1
            }
        }
    }

    private func remember(_ memory: BackupMemory, for manifest: BackupManifest, cipher: FrameCipher) throws {
        var memory = memory
        let now = MachineClock.referenceMicroseconds
        let dates = self.memory.checked.merging(written.map { ($0.digest, now) }) { $1 }
        memory.checked = [:]
        // If this run is killed before it replaces the manifest, the earlier manifest still belongs to this database.
        memory.lists = [manifest.digest] + (list.map { [$0] } ?? [])
        for segment in manifest.segments { memory.checked[segment.digest] = dates[segment.digest] }
        try BackupFiles.replace(path + "/memory", with: try cipher.seal(memory.bytes, .memory))
    }
}
