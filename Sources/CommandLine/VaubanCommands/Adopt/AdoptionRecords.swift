// The files that `vauban adopt` writes to the old keychain's folder. They contain neither names nor anything derived from a value.

import Glibc
import VaubanKeychainModel
import VaubanLinuxHost

/// `HOME/adopted`: records that everything was moved, and the state of the old database at that time. The marker is invalid once the
/// database was written again, for example in user mode. The state of the installed keychain is in `AdoptedItems`.
enum AdoptionMarker {
    private static let name = "adopted"
    private static let bytesMax = 256

    static func stands(in home: String) -> Bool {
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

/// One moved item: its identity in the old keychain, its modification date there, and its identity in the new keychain. Identities are
/// random, disclose nothing about the item, and are unique to one keychain: they do not occur in a keychain that was created again after an
/// erasure or a loss, nor in another machine's keychain with the same home.
struct AdoptedItem: Hashable {
    let old: LegacyItem.Stamp
    let kind: ItemKind
    let new: [UInt8]
}

/// `HOME/adopted.items`: a line for each moved item, `KIND OLD DATE NEW`.
enum AdoptedItems {
    private static let name = "adopted.items"
    private static let bytesMax = 256 << 20
    private static let version = "version 1"

    static func keep(_ items: some Sequence<AdoptedItem>, in folder: PrivateFolder) throws(SystemError) {
        let lines = items.map { "\($0.kind.rawValue) \(hex($0.old.identity)) \($0.old.changed) \(hex($0.new))\n" }
        try DurableFile(name, in: folder).replace(with: Array(("\(version)\n" + lines.sorted().joined()).utf8))
    }

    /// Returns the list, or nil if it is missing or damaged; then no item counts as moved.
    static func read(in folder: PrivateFolder) -> [AdoptedItem]? {
        guard case .bytes(let bytes)? = try? DurableFile(name, in: folder).read(max: bytesMax) else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        guard lines.first == version else { return nil }
        var items: [AdoptedItem] = []
        for line in lines.dropFirst() {
            let words = line.split(separator: " ")
            guard words.count == 4, let number = Int64(words[0]), let kind = ItemKind(nameable: number), let old = octets(words[1]),
                let changed = Int64(words[2]), let new = octets(words[3])
            else { return nil }
            items.append(AdoptedItem(old: LegacyItem.Stamp(identity: old, changed: changed), kind: kind, new: new))
        }
        return items
    }

    private static func hex(_ bytes: [UInt8]) -> String { bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }

    private static func octets(_ word: Substring) -> [UInt8]? {
        guard word.utf8.count == 32 else { return nil }
        var rest = word
        var bytes: [UInt8] = []
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}

/// `HOME/erased`: records that the keys in this folder were erased, so that the folder may be removed. It is written after the erasure and
/// removed last: a folder without it is never removed.
enum ErasedMarker {
    static let name = "erased"
    private static let text = "version 1\nerased\n"

    static func set(in folder: PrivateFolder) throws(SystemError) { try DurableFile(name, in: folder).replace(with: Array(text.utf8)) }

    static func stands(in folder: PrivateFolder) -> Bool {
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
