// The files that `vauban adopt` writes to the old keychain's folder. They contain neither names nor anything derived from a value.

import Glibc
import VaubanKeychainModel
import VaubanLinuxHost

/// `HOME/adopted`: records that everything was moved, and the state of the old database at that time. The marker is invalid once the
/// database was written again, for example in user mode. The state of the installed keychain is in `AdoptedItems`.
enum AdoptionMarker {
    private static let name = "adopted"
    private static let bytesMax = 256

    static func exists(in home: String) -> Bool {
        guard let kept = SmallFile.text(path: "\(home)/\(name)", max: bytesMax) else { return false }
        return kept == text(home)
    }

    /// Writes the marker. Call this after the old rooms have ended and after the list of moved items was written.
    static func set(in folder: PrivateFolder) throws(SystemError) {
        try DurableFile(name, in: folder).replace(with: Array(text(folder.path).utf8))
    }

    static func remove(from folder: PrivateFolder) { folder.remove(name) }

    private static func text(_ home: String) -> String {
        let database = "\(home)/keychain/\(geteuid())/keychain.db"
        let parts = [database, "\(database)-wal"].map { path in
            var information = stat()
            guard lstat(path, &information) == 0 else { return "none" }
            return "\(information.st_size) \(information.st_mtim.tv_sec).\(information.st_mtim.tv_nsec)"
        }
        return "version 2\ndatabase \(parts[0])\nlog \(parts[1])\n"
    }
}

/// `HOME/erased`: records that the keys in this folder were erased, so that the folder may be removed. It is written after the erasure and
/// removed last: a folder without it is never removed.
enum ErasedMarker {
    static let name = "erased"
    private static let text = "version 1\nerased\n"

    static func set(in folder: PrivateFolder) throws(SystemError) { try DurableFile(name, in: folder).replace(with: Array(text.utf8)) }

    static func exists(in folder: PrivateFolder) -> Bool {
        guard case .bytes(let bytes)? = try? DurableFile(name, in: folder).read(max: 64) else { return false }
        return bytes == Array(text.utf8)
    }
}

/// `HOME/adopting`: the items with a prompt that were moved and compared, so that a run that continues an interrupted one does not prompt
/// for them again. An item is recorded by its dates in the old and the new keychain, in microseconds, which show whether either was
/// changed.
struct AdoptionJournal {
    private static let bytesMax = 16 << 20
    private static let version = "version 1"
    private let file: DurableFile
    private var lines: Set<String>

    init(in folder: PrivateFolder) throws {
        file = DurableFile("adopting", in: folder)
        lines = []
        // An unreadable journal only costs additional prompts.
        guard case .bytes(let bytes)? = try? file.read(max: Self.bytesMax) else { return }
        let read = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        if read.first == Self.version { lines = Set(read.dropFirst()) }
    }

    func holds(_ old: ItemRecord, as new: ItemRecord) -> Bool { lines.contains(Self.line(old, new)) }

    mutating func keep(_ old: ItemRecord, as new: ItemRecord) throws(SystemError) {
        lines.insert(Self.line(old, new))
        try file.replace(with: Array(([Self.version] + lines.sorted()).map { "\($0)\n" }.joined().utf8))
    }

    private static func line(_ old: ItemRecord, _ new: ItemRecord) -> String {
        let dates = [old, new].flatMap { [$0.date(.creationDate), $0.date(.modificationDate)] }
        return ([old.kind.rawValue] + dates).map(String.init).joined(separator: " ")
    }
}

extension ItemRecord {
    func date(_ name: AttributeName) -> Int64 {
        if case .date(let date) = attributes[name] { date } else { 0 }
    }
}
