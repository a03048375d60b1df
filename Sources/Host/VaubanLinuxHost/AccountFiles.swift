internal import Glibc

/// The files that assign uids to users: `passwd`, `subuid`, and root's own list, each read again when it changes.
struct AccountFiles {
    /// The state of a file when it was last read.
    private struct Read {
        var mark: [Int] = []
    }

    private let folder: String
    private let owner: UInt32
    private var passwdRead = Read(), subuidRead = Read(), allowedRead = Read()
    private var names: [UInt32: String] = [:]
    private var numbers: [String: UInt32] = [:]
    private var subordinate = UIDRanges()
    private(set) var allowed = UIDRanges()

    /// The path of the list of allowed uids in the folder.
    static let allowedPath = "vauban/uids"
    private static let bytesMax = 16 << 20

    init(folder: String, owner: UInt32) {
        self.folder = folder
        self.owner = owner
    }

    func standing(of uid: UInt32) -> Accounts.Standing {
        if let name = names[uid] { return .known(name: name) }
        if let line = allowed.line(of: uid) { return line.named ? .subordinate(of: line.owner(of: uid)) : .known(name: nil) }
        if Accounts.dynamicUIDs.contains(uid) { return .dynamic }
        if let line = subordinate.line(of: uid) { return .subordinate(of: line.owner(of: uid)) }
        return .unlisted
    }

    /// Returns the uid of a user in the system's own list, without querying a service; nil for any other user.
    static func listedUser(named name: String, folder: String = "/etc") -> UInt32? {
        guard let text = SmallFile.bytes(path: "\(folder)/passwd", max: bytesMax) else { return nil }
        return users(text).1[name]
    }

    /// Reads the files that changed. A file that cannot be read keeps its last content, so that no user becomes unknown while a file is
    /// being replaced.
    mutating func refresh() {
        if let text = Self.changed("\(folder)/passwd", &passwdRead) {
            (names, numbers) = Self.users(text)
            // These files refer to owners by name, so a change of `passwd` changes their meaning.
            (subuidRead, allowedRead) = (Read(), Read())
        }
        if let text = Self.changed("\(folder)/subuid", &subuidRead) { subordinate = UIDRanges(subuid: text, numbers: numbers) }
        let path = "\(folder)/\(Self.allowedPath)"
        if access(path, F_OK) != 0 && errno == ENOENT {
            allowed = UIDRanges()
            allowedRead = Read()
        } else if let text = Self.changed(path, &allowedRead, owner: owner) {
            allowed = UIDRanges(allowed: text, numbers: numbers)
        }
    }

    /// Returns the file's bytes if they differ from those last read; nil if they are the same or cannot be read. With `owner`, a file that
    /// another user could have written counts as empty.
    private static func changed(_ path: String, _ read: inout Read, owner: UInt32? = nil) -> [UInt8]? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        let mark = mark(facts)
        guard mark != read.mark else { return nil }
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let file = Descriptor(number)
        guard fstat(number, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, let bytes = SmallFile.bytes(of: file, max: bytesMax) else {
            return nil
        }
        read.mark = Self.mark(facts)
        if let owner, facts.st_uid != owner || facts.st_mode & 0o022 != 0 { return [] }
        return bytes
    }

    private static func mark(_ facts: stat) -> [Int] {
        [
            Int(truncatingIfNeeded: facts.st_dev), Int(truncatingIfNeeded: facts.st_ino), Int(facts.st_size), facts.st_mtim.tv_sec,
            facts.st_mtim.tv_nsec, facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec,
        ]
    }

    /// Parses `NAME:PASSWORD:UID:…`, as in passwd(5). As in the system, the first name of a number counts.
    private static func users(_ text: [UInt8]) -> ([UInt32: String], [String: UInt32]) {
        var names: [UInt32: String] = [:]
        var numbers: [String: UInt32] = [:]
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 3, omittingEmptySubsequences: false)
            guard fields.count == 4, let name = String(validating: fields[0], as: UTF8.self), !name.isEmpty,
                !"+-#".contains(name.first ?? "+"),
                let number = UInt32(String(decoding: fields[2], as: UTF8.self))
            else { continue }
            if names[number] == nil { names[number] = name }
            if numbers[name] == nil { numbers[name] = number }
        }
        return (names, numbers)
    }
}
