import Foundation
import Glibc
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
    private var written: [BackupManifest.Segment] = []

    /// Opens a folder, or creates it.
    init(path: String) throws(Refusal) {
        self.path = path
        for folder in [path, path + "/segments"] where mkdir(folder, 0o700) != 0 && errno != EEXIST {
            throw NewFile.refusal("make the folder \(SafeText.visible(folder))", errno)
        }
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw NewFile.refusal("open \(SafeText.visible(path))", errno) }
        lock = Descriptor(number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            throw Refusal(.badParameter, "Another backup writes to \(SafeText.visible(path)); wait for its end, then try again")
        }
        keybag = try StoredBackupFolder.keybag(in: path)
        // A folder with other content is not used, and a backup that lost its keys is not started again over its remains.
        if keybag == nil {
            let entries = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            guard Set(entries).isSubset(of: ["segments", "keybag.partial"]) else {
                throw Refusal(.badParameter, "\(SafeText.visible(path)) is not a folder of vauban backup; choose an empty or a new one")
            }
        }
    }

    // MARK: Writing

    func begin(_ keybag: [UInt8], _ cipher: FrameCipher) throws -> Set<BackupMark> {
        self.cipher = cipher
        if self.keybag != keybag { try BackupFiles.replace(path + "/keybag", with: BackupFormat.header(keybag)) }
        guard let manifest = try StoredBackupFolder.manifest(in: path, cipher) else { return [] }
        earlier = manifest
        // Missing and incomplete segments are written again.
        earlier.segments.removeAll { segment in
            var status = stat()
            return stat(StoredBackupFolder.path(of: segment.digest, in: path), &status) != 0 || Int(status.st_size) != segment.size
        }
        return Set(earlier.segments.flatMap(\.items))
    }

    func worthRewriting(of kept: Set<BackupMark>) -> Set<BackupMark> {
        var sparse: Set<BackupMark> = []
        for segment in earlier.segments {
            let left = segment.items.filter(kept.contains)
            if left.count * 2 < segment.total { sparse.formUnion(left) }
        }
        return sparse
    }

    func write(_ records: [BackupRecord]) throws {
        guard let cipher else { throw Refusal(.internalError) }
        let sealed = try cipher.seal(try records.flatMap { try $0.encoded() }, .segment)
        let segment = BackupManifest.Segment(sealed: sealed, records)
        let file = StoredBackupFolder.path(of: segment.digest, in: path)
        try BackupFiles.replace(file, with: sealed)
        guard try BackupFiles.read(file, max: BackupFormat.frameBytesMax) == sealed else {
            throw Refusal(.storageFailed, "a part of the backup that was written cannot be read")
        }
        written.append(segment)
    }

    func finish(keeping: Set<BackupMark>, date: Int64) throws {
        guard let cipher else { throw Refusal(.internalError) }
        var manifest = BackupManifest(date: date)
        for var segment in earlier.segments {
            segment.items.removeAll { !keeping.contains($0) }
            if !segment.items.isEmpty { manifest.segments.append(segment) }
        }
        manifest.segments += written
        let sealed = try cipher.seal(manifest.bytes, .manifest)
        try BackupFiles.replace(path + "/manifest", with: sealed)
        guard try BackupFiles.read(path + "/manifest", max: BackupFormat.manifestBytesMax) == sealed else {
            throw Refusal(.storageFailed, "the list of the backup that was written cannot be read")
        }
        // From here on the new backup is valid, and nothing refers to the files that are removed.
        let named = Set(manifest.segments.map { StoredBackupFolder.hex($0.digest) })
        for name in try FileManager.default.contentsOfDirectory(atPath: path + "/segments") where !named.contains(name) {
            unlink("\(path)/segments/\(name)")
        }
    }
}

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
        for segment in manifest.segments {
            let records = try records(of: segment, cipher)
            guard Set(segment.items).isSubset(of: Set(records.map(\.mark))) else {
                throw damagedBackup("The list of the backup does not match its content")
            }
        }
        return manifest
    }

    func forEach(_ cipher: FrameCipher, manifest: BackupManifest, body: (BackupRecord) throws -> Void) throws {
        for segment in manifest.segments {
            let items = Set(segment.items)
            for record in try records(of: segment, cipher) where items.contains(record.mark) { try body(record) }
        }
    }

    private func records(of segment: BackupManifest.Segment, _ cipher: FrameCipher) throws -> [BackupRecord] {
        let what = "segments/\(Self.hex(segment.digest).prefix(16))…, with \(count(segment.items.count, "item")),"
        guard let sealed = try BackupFiles.read(Self.path(of: segment.digest, in: path), max: BackupFormat.frameBytesMax) else {
            throw damagedBackup("The file \(what) is missing; the folder may not have been copied completely")
        }
        guard BackupManifest.digest(sealed) == segment.digest, let plaintext = cipher.open(sealed, .segment),
            let records = BackupRecord.records(of: plaintext)
        else { throw damagedBackup("The file \(what) is incomplete or was altered; the folder may not have been copied completely") }
        return records
    }

    static func keybag(in path: String) throws(Refusal) -> [UInt8]? {
        guard let header = try BackupFiles.read(path + "/keybag", max: 16 + 4 + BackupFormat.keybagBytesMax) else { return nil }
        var reader = ByteReader(header)
        return try BackupHeader.keybag { reader.take($0) }
    }

    static func manifest(in path: String, _ cipher: FrameCipher) throws -> BackupManifest? {
        guard let sealed = try BackupFiles.read(path + "/manifest", max: BackupFormat.manifestBytesMax) else { return nil }
        guard let plaintext = cipher.open(sealed, .manifest), let manifest = BackupManifest(plaintext) else {
            throw damagedBackup("The file manifest of the backup was altered, or is of another backup")
        }
        return manifest
    }

    static func path(of digest: [UInt8], in path: String) -> String { "\(path)/segments/\(hex(digest))" }

    static func hex(_ bytes: [UInt8]) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
