import Foundation
import Glibc
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal

/// A backup that is being read from a folder.
struct StoredBackupFolder: BackupSource {
    let keybag: [UInt8]
    private let path: String

    init(path: String) throws(Refusal) {
        guard let keybag = try Self.keybag(in: path) else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) is not a folder of vauban backup, or its file keybag is missing")
        }
        self.keybag = keybag
        self.path = path
    }

    func verify(_ cipher: FrameCipher) throws -> BackupManifest {
        guard let manifest = try Self.manifest(in: path, cipher) else { throw damagedBackup("The file manifest of the backup is missing") }
        for segment in manifest.segments { _ = try records(of: segment, cipher) }
        return manifest
    }

    func salvage(_ cipher: FrameCipher) throws -> SalvagedBackup {
        let (manifest, isWhole) = try Self.manifestToContinue(in: path, cipher, skipsUnreadable: true)
        var found = SalvagedBackup(manifest: manifest, hasNoList: !isWhole)
        found.manifest.segments = manifest.segments.filter { segment in
            if (try? records(of: segment, cipher)) != nil { return true }
            found.damaged.append(BackupDamage(part: Self.name(of: segment), items: segment.items))
            return false
        }
        return found
    }

    func forEach(_ cipher: FrameCipher, manifest: BackupManifest, body: (BackupRecord) throws -> Void) throws {
        for segment in manifest.segments {
            let items = Set(segment.items)
            for record in try records(of: segment, cipher) where items.contains(record.mark) { try body(record) }
        }
    }

    func remember(_ run: (database: Int64, number: Int64), of manifest: BackupManifest, _ cipher: FrameCipher) {
        changeMemory(cipher) { memory in
            // Whatever another run has written meanwhile was not restored.
            let (list, current) = (manifest.digest, Self.list(in: path, cipher))
            guard current == nil || current == list else { return }
            // The databases recorded there may belong to another manifest.
            if !memory.lists.contains(list), current != nil { (memory.databases, memory.lists) = ([:], [list]) }
            memory.databases[run.database] = run.number
        }
    }

    func forget(_ database: Int64, _ cipher: FrameCipher) { changeMemory(cipher) { $0.databases[database] = nil } }

    private func changeMemory(_ cipher: FrameCipher, _ change: (inout BackupMemory) -> Void) {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return }
        let lock = Descriptor(number)
        guard flock(lock.number, LOCK_EX | LOCK_NB) == 0 else { return }
        let earlier = Self.memory(in: path, cipher)
        var memory = earlier
        change(&memory)
        // The folder may be on a read-only medium. Then what it remembers stays.
        guard memory != earlier, let sealed = try? cipher.seal(memory.bytes, .memory) else { return }
        try? BackupFiles.replace(path + "/memory", with: sealed)
    }

    private func records(of segment: BackupManifest.Segment, _ cipher: FrameCipher) throws -> [BackupRecord] {
        let what = Self.name(of: segment)
        guard let sealed = try BackupFiles.read(Self.path(of: segment.digest, in: path), max: BackupFormat.frameBytesMax) else {
            throw damagedBackup("The file \(what), is missing; the folder may not have been copied completely")
        }
        guard BackupManifest.digest(sealed) == segment.digest, let plaintext = cipher.open(sealed, .segment),
            let records = BackupRecord.records(of: plaintext)
        else { throw damagedBackup("The file \(what), is incomplete or was altered; the folder may not have been copied completely") }
        guard Set(segment.items).isSubset(of: Set(records.map(\.mark))) else {
            throw damagedBackup("The list of the backup does not match its content")
        }
        return records
    }

    // MARK: The files

    static func keybag(in path: String) throws(Refusal) -> [UInt8]? {
        guard let header = try BackupFiles.read(path + "/keybag", max: 16 + 4 + BackupFormat.keybagBytesMax) else { return nil }
        var reader = ByteReader(header)
        return try BackupHeader.keybag(of: path + "/keybag") { reader.take($0) }
    }

    /// Returns whether a folder contains a backup, or anything other than what an interrupted run leaves in an empty folder.
    static func hasContent(_ path: String) -> Bool {
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: path) else { return false }
        let segments = (try? FileManager.default.contentsOfDirectory(atPath: path + "/segments")) ?? []
        return entries.contains("keybag") || !segments.isEmpty
    }

    /// Returns whether this may be the hidden name under which a program that copies a backup writes one of its files.
    static func isBeingCopied(_ name: String) -> Bool { ["keybag", "manifest", "memory"].contains { name.contains($0) } }

    static func manifest(in path: String, _ cipher: FrameCipher, _ name: String = "manifest") throws(Refusal) -> BackupManifest? {
        guard let sealed = try BackupFiles.read("\(path)/\(name)", max: BackupFormat.manifestBytesMax) else { return nil }
        guard let plaintext = cipher.open(sealed, .manifest), let manifest = BackupManifest(plaintext) else {
            throw damagedBackup("The file manifest of the backup was altered, or is of another backup")
        }
        return manifest
    }

    /// Returns the digest of the manifest; nil if it is missing or was altered.
    static func list(in path: String, _ cipher: FrameCipher) -> [UInt8]? { (try? manifest(in: path, cipher))?.digest }

    /// Returns the manifest, and whether it is intact. If it is damaged or missing, uses the previous one, with all items of every segment
    /// that it does not name: no item is missing, but earlier values and deleted items may be among them.
    /// - Parameter skipsUnreadable: Whether to leave out a segment that cannot be read now. A run that adds to the backup would remove it.
    static func manifestToContinue(
        in path: String, _ cipher: FrameCipher, skipsUnreadable: Bool
    ) throws -> (manifest: BackupManifest, isWhole: Bool) {
        if let manifest = try? manifest(in: path, cipher) { return (manifest, true) }
        var manifest = (try? Self.manifest(in: path, cipher, "manifest.previous")) ?? BackupManifest(date: 0)
        let named = Set(manifest.segments.map { hex($0.digest) })
        let files = (try? FileManager.default.contentsOfDirectory(atPath: path + "/segments")) ?? []
        for name in files.sorted() where !named.contains(name) && !BackupFiles.isMarker(name) {
            let file = "\(path)/segments/\(name)"
            let found: [UInt8]?
            do throws(Refusal) {
                found = try BackupFiles.read(file, max: BackupFormat.frameBytesMax)
            } catch {
                // Segments have names of 64 digits.
                guard skipsUnreadable || name.utf8.count != 64 else { throw BackupFolder.unreadable(file, error.message) }
                continue
            }
            guard let sealed = found, let plaintext = cipher.open(sealed, .segment), let records = BackupRecord.records(of: plaintext)
            else { continue }
            let segment = BackupManifest.Segment(sealed: sealed, records)
            if hex(segment.digest) == name { manifest.segments.append(segment) }
        }
        return (manifest, false)
    }

    /// Returns what earlier runs recorded; empty if that is missing or was altered.
    static func memory(in path: String, _ cipher: FrameCipher) -> BackupMemory {
        guard let sealed = try? BackupFiles.read(path + "/memory", max: BackupFormat.manifestBytesMax),
            let plaintext = cipher.open(sealed, .memory)
        else { return BackupMemory() }
        return BackupMemory(plaintext) ?? BackupMemory()
    }

    /// Returns whether a file has the content that belongs to its name.
    static func isWhole(_ file: String, name: String) -> Bool {
        guard let sealed = try? BackupFiles.read(file, max: BackupFormat.frameBytesMax) else { return false }
        return hex(BackupManifest.digest(sealed)) == name
    }

    static func path(of digest: [UInt8], in path: String) -> String { "\(path)/segments/\(hex(digest))" }

    static func name(of segment: BackupManifest.Segment) -> String {
        "segments/\(hex(segment.digest).prefix(16))…, with \(count(segment.items.count, "item"))"
    }

    static func hex(_ bytes: [UInt8]) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
