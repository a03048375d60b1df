// What `vauban adopt` leaves in the folder of the old keychain. Neither file holds a name or anything made from a value.

import Glibc
import VaubanKeychainModel
import VaubanLinuxHost

/// `HOME/adopted`: that everything was moved, and how the old database lay then. Where something was written to it since,
/// as by using user mode again, the marker means nothing.
enum AdoptionMarker {
    private static let name = "adopted"
    private static let bytesMax = 256

    static func stands(in home: String) -> Bool {
        guard let kept = SmallFile.text(path: "\(home)/\(name)", max: bytesMax) else { return false }
        return kept == text(home)
    }

    /// To be set when the old rooms have ended.
    static func set(in folder: PrivateFolder) throws(SystemFault) {
        try DurableFile(name, in: folder).replace(with: Array(text(folder.path).utf8))
    }

    private static func text(_ home: String) -> String {
        let database = "\(home)/keychain/\(geteuid())/keychain.db"
        let parts = [database, "\(database)-wal"].map { path in
            var information = stat()
            guard lstat(path, &information) == 0 else { return "none" }
            return "\(information.st_size) \(information.st_mtim.tv_sec).\(information.st_mtim.tv_nsec)"
        }
        return "version 1\ndatabase \(parts[0])\nlog \(parts[1])\n"
    }
}

/// `HOME/adopting`: which items that ask for the person were moved and compared, so that a run that goes on where one was
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

    mutating func keep(_ old: ItemRecord, as new: ItemRecord) throws(SystemFault) {
        lines.insert(Self.line(old, new))
        try file.replace(with: Array(([Self.version] + lines.sorted()).map { "\($0)\n" }.joined().utf8))
    }

    private static func line(_ old: ItemRecord, _ new: ItemRecord) -> String {
        let dates = [old, new].flatMap { [$0.date(.creationDate), $0.date(.modificationDate)] }
        return ([old.kind.rawValue] + dates).map(String.init).joined(separator: " ")
    }
}

extension ItemRecord {
    fileprivate func date(_ name: AttributeName) -> Int64 {
        if case .date(let date) = attributes[name] { date } else { 0 }
    }
}
