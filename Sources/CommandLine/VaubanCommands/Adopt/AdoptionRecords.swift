// What `vauban adopt` leaves in the folder of the old keychain. Neither file holds a name or anything made from a value.

import Glibc
import VaubanKeychainModel
import VaubanLinuxHost

/// `HOME/adopted`: that everything was moved, and how the old database lay then. Where something was written to it since,
/// as by using user mode again, the marker means nothing. What it says of the installed keychain is in `AdoptedItems`.
enum AdoptionMarker {
    private static let name = "adopted"
    private static let bytesMax = 256

    static func stands(in home: String) -> Bool {
        guard let kept = SmallFile.text(path: "\(home)/\(name)", max: bytesMax) else { return false }
        return kept == text(home)
    }

    /// To be set when the old rooms have ended, and after the list of what was moved.
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

/// One item of the old keychain, by its identity there and by when it was changed last, and the item here that it became. An
/// identity is drawn at random for each item, tells nothing of it, and is in no other keychain: not in one that was erased
/// or lost and begun anew, and not in another machine's to which the home was brought.
struct AdoptedItem: Hashable {
    let old: LegacyItem.Stamp
    let kind: ItemKind
    let new: [UInt8]
}

/// `HOME/adopted.items`: a line for each item that was moved, `KIND OLD DATE NEW`.
enum AdoptedItems {
    private static let name = "adopted.items"
    private static let bytesMax = 256 << 20
    private static let version = "version 1"

    static func keep(_ items: some Sequence<AdoptedItem>, in folder: PrivateFolder) throws(SystemError) {
        let lines = items.map { "\($0.kind.rawValue) \(hex($0.old.identity)) \($0.old.changed) \(hex($0.new))\n" }
        try DurableFile(name, in: folder).replace(with: Array(("\(version)\n" + lines.sorted().joined()).utf8))
    }

    /// Nil where there is no list that can be believed as a whole; then nothing counts as moved.
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

/// `HOME/erased`: that the keys in this folder were destroyed, so that the folder may go. Written when they were, and removed last
/// of all: a folder without it is never removed.
enum ErasedMarker {
    static let name = "erased"
    private static let text = "version 1\nerased\n"

    static func set(in folder: PrivateFolder) throws(SystemError) { try DurableFile(name, in: folder).replace(with: Array(text.utf8)) }

    static func stands(in folder: PrivateFolder) -> Bool {
        guard case .bytes(let bytes)? = try? DurableFile(name, in: folder).read(max: 64) else { return false }
        return bytes == Array(text.utf8)
    }
}

/// `HOME/adopting`: which items that ask for the user were moved and compared, so that a run that goes on where one was
/// broken off does not ask for them again. An item stands there by its dates, in microseconds, in the old keychain and in
/// the new one: they tell when either of the two was changed.
struct AdoptionJournal {
    private static let bytesMax = 16 << 20
    private static let version = "version 1"
    private let file: DurableFile
    private var lines: Set<String>

    init(in folder: PrivateFolder) throws {
        file = DurableFile("adopting", in: folder)
        lines = []
        // One that cannot be read costs questions and nothing else.
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
