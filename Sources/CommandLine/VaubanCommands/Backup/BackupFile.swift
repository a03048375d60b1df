import Glibc
import VaubanLinuxHost
import VaubanRefusal

/// A backup that is being written to one file.
final class NewBackupFile: BackupTarget {
    let keybag: [UInt8]? = nil
    let memory = BackupMemory()
    let list: [UInt8]? = nil
    let remembersRuns = false
    let damaged: [BackupDamage] = []
    let hasNoList = false
    let checked = (parts: 0, all: 0)
    let unknownFiles = 0
    private let output: NewFile
    private var cipher: FrameCipher?
    private var manifest = BackupManifest(date: 0)

    init(path: String) throws(Refusal) {
        guard access(path, F_OK) != 0 else { throw NewFile.exists(path) }
        output = try NewFile(path: path)
    }

    func begin(_ keybag: [UInt8], _ cipher: FrameCipher) throws -> Set<BackupMark> {
        self.cipher = cipher
        try output.write(BackupFormat.header(keybag))
        return []
    }

    func worthRewriting(of kept: Set<BackupMark>) -> Set<BackupMark> { [] }

    /// An incomplete file has no name yet, so there is nothing to continue.
    func noteDatabase(of run: (database: Int64, number: Int64)) {}

    func write(_ records: [BackupRecord]) throws {
        let sealed = try seal(try records.flatMap { try $0.encoded() }, isLast: false)
        manifest.segments.append(BackupManifest.Segment(sealed: sealed, records))
    }

    func finish(keeping: Set<BackupMark>, _ memory: BackupMemory) throws {
        manifest.date = memory.date
        _ = try seal(manifest.bytes, isLast: true)
        try output.sync()
        guard let cipher else { return }
        let written = try BackupFile(path: output.unnamed)
        guard try written.verify(cipher).itemCount == manifest.itemCount else {
            throw Refusal(.storageFailed, "the backup that was written cannot be read")
        }
        try output.name(replacing: false)
    }

    private func seal(_ plaintext: [UInt8], isLast: Bool) throws -> [UInt8] {
        guard let cipher else { throw Refusal(.internalError) }
        let sealed = try cipher.seal(plaintext, .inFile(number: manifest.segments.count, isLast: isLast))
        try output.write(BackupFormat.number(sealed.count))
        try output.write(sealed)
        return sealed
    }
}

/// A backup that is being read from one file.
struct BackupFile: BackupSource {
    let keybag: [UInt8]
    private let path: String
    private let headerBytes: Int

    init(path: String) throws(Refusal) {
        self.path = path
        let reader = try FrameReader(path: path, from: 0)
        keybag = try BackupHeader.keybag(of: path) { reader.take($0) }
        headerBytes = BackupFormat.header(keybag).count
    }

    func verify(_ cipher: FrameCipher) throws -> BackupManifest {
        var manifest = BackupManifest(date: 0)
        var stored: BackupManifest?
        try forEachFrame(cipher) { plaintext, sealed, isLast in
            if isLast {
                stored = BackupManifest(plaintext)
            } else {
                guard let records = BackupRecord.records(of: plaintext) else { throw damagedBackup("A part of the backup has no items") }
                manifest.segments.append(BackupManifest.Segment(sealed: sealed, records))
            }
        }
        guard let stored, stored.segments == manifest.segments else {
            throw damagedBackup("The list at the end of the backup does not match its content")
        }
        return stored
    }

    func salvage(_ cipher: FrameCipher) throws -> SalvagedBackup {
        var found = SalvagedBackup()
        var stored: BackupManifest?
        try forEachFrame(cipher, damaged: { found.damaged.append(BackupDamage(part: $0, items: [])) }) { plaintext, sealed, isLast in
            if isLast {
                stored = BackupManifest(plaintext)
            } else if let records = BackupRecord.records(of: plaintext) {
                found.manifest.segments.append(BackupManifest.Segment(sealed: sealed, records))
            }
        }
        // A missing part is described by its number of items, as the manifest lists them.
        let whole = Set(found.manifest.segments.map(\.digest))
        let missing = stored?.segments.filter { !whole.contains($0.digest) } ?? []
        if !missing.isEmpty {
            found.damaged = missing.map { BackupDamage(part: "a part of \(count($0.items.count, "item"))", items: $0.items) }
        }
        return found
    }

    func forEach(_ cipher: FrameCipher, manifest: BackupManifest, body: (BackupRecord) throws -> Void) throws {
        var left = Set(manifest.segments.map(\.digest))
        try forEachFrame(cipher, damaged: { _ in }) { plaintext, sealed, isLast in
            guard !isLast, left.remove(BackupManifest.digest(sealed)) != nil else { return }
            for record in BackupRecord.records(of: plaintext) ?? [] { try body(record) }
        }
        guard left.isEmpty else { throw damagedBackup("The backup was altered while it was read") }
    }

    // A file is written once.
    func remember(_ run: (database: Int64, number: Int64), of manifest: BackupManifest, _ cipher: FrameCipher) {}

    func forget(_ database: Int64, _ cipher: FrameCipher) {}

    /// Calls `body` with each frame. Without `damaged`, throws if the file is incomplete or altered; otherwise calls `damaged` with each
    /// damaged part and continues.
    private func forEachFrame(
        _ cipher: FrameCipher, damaged: ((String) -> Void)? = nil, _ body: ([UInt8], [UInt8], Bool) throws -> Void
    ) throws {
        let reader = try FrameReader(path: path, from: headerBytes)
        var number = 0
        while true {
            guard let length = reader.take(4), let count = ByteReader(length).first(), count <= BackupFormat.manifestBytesMax,
                let sealed = reader.take(count)
            else {
                guard let damaged else { throw damagedBackup("The backup is cut off after \(number) parts") }
                return damaged("everything after part \(number)")
            }
            if let plaintext = cipher.open(sealed, .inFile(number: number, isLast: false)) {
                try body(plaintext, sealed, false)
            } else if let plaintext = cipher.open(sealed, .inFile(number: number, isLast: true)) {
                guard reader.isAtEnd || damaged != nil else { throw damagedBackup("There is something after the end of the backup") }
                return try body(plaintext, sealed, true)
            } else if let damaged {
                damaged("part \(number + 1)")
                if reader.isAtEnd { return }
            } else {
                throw damagedBackup("Part \(number + 1) of the backup was altered")
            }
            number += 1
        }
    }
}

/// The header of a backup.
enum BackupHeader {
    /// Returns the keybag of a file. `take` returns the next bytes, or nil at the end.
    static func keybag(of path: String, _ take: (Int) -> [UInt8]?) throws(Refusal) -> [UInt8] {
        guard let magic = take(BackupFormat.magic.count), magic.starts(with: BackupFormat.family) else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) is not a backup of vauban backup")
        }
        guard magic == BackupFormat.magic else {
            throw Refusal(.unsupported, "The backup was made by a later version of Vauban; update Vauban, then restore")
        }
        guard let length = take(4), let count = ByteReader(length).first(), (1...BackupFormat.keybagBytesMax).contains(count),
            let keybag = take(count)
        else { throw damagedBackup("The beginning of the backup is cut off") }
        return keybag
    }
}

extension ByteReader {
    /// Returns the first number.
    func first() -> Int? {
        var copy = self
        return copy.number()
    }
}

/// A file that is read from front to back.
final class FrameReader {
    private let file: Descriptor
    private var left: Int

    init(path: String, from offset: Int) throws(Refusal) {
        // As in BackupFiles.read: opening a pipe would block.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw NewFile.refusal("open \(SafeText.visible(path))", errno) }
        file = Descriptor(number)
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, lseek(number, off_t(offset), SEEK_SET) >= 0 else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) is not a file")
        }
        left = Int(status.st_size) - offset
    }

    var isAtEnd: Bool { left == 0 }

    /// Returns the next bytes; nil if there are fewer.
    func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= left else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        guard BackupFiles.readWhole(file.number, &bytes) else { return nil }
        left -= count
        return bytes
    }
}
