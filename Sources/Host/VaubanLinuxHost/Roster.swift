import Glibc

/// A room or attendant, by the name of its program.
package enum RoomName: String, CaseIterable, Sendable {
    case enclaved
    case keychaind
    case authd
    case witness
    case watcher
    case reader
    case fetcher
}

/// The installed service's list of rooms and their system users. Clients learn from it that the service is installed, and rooms the uids of
/// their peers.
package struct Roster: Sendable, Hashable {
    package static let path = "/etc/vauban/rooms"
    package static let socketFolder = "/run/vauban"
    private let uids: [RoomName: UInt32]

    /// Returns the installed list; nil if nothing is installed. Throws if a user other than root can change the file.
    package static func installed(path: String = path) throws(ServiceError) -> Roster? {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if number < 0 {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw ServiceError("\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        let file = Descriptor(number)
        var information = stat()
        guard fstat(number, &information) == 0, information.st_uid == 0, information.st_mode & 0o022 == 0 else {
            throw ServiceError("\(path) must belong to root and be writable by nobody else")
        }
        guard SmallFile.isReadAtOnce(file), let bytes = SmallFile.bytes(of: file, max: 4096),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw ServiceError("\(path) is not text")
        }
        return try Roster(text: text)
    }

    /// Parses lines of `ROOM USER`; `#` begins a comment. Rooms of a later version are ignored. A user may be a number: a container that
    /// uses the sockets of its host has no names for the host's users.
    package init(text: String) throws(ServiceError) {
        var uids: [RoomName: UInt32] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            guard words.count == 2, words[0].utf8.allSatisfy({ Self.isNameByte($0) }) else {
                throw ServiceError("\(Self.path) has a line that is not a name and a user, such as keychaind vauban-keychain")
            }
            // A later version may have more rooms, and programs of this version still use the others.
            guard let room = RoomName(rawValue: String(words[0])) else { continue }
            if let uid = UInt32(digits: words[1]) {
                uids[room] = uid
                continue
            }
            uids[room] = try Self.uid(ofUser: String(words[1]))
        }
        self.uids = uids
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
    }

    /// Looks a user up in the system's own list first, since a name service may hang while the machine starts.
    private static func uid(ofUser name: String) throws(ServiceError) -> UInt32 {
        if let uid = AccountFiles.listedUser(named: name) { return uid }
        guard let entry = getpwnam(name) else { throw ServiceError("\(path) names the user \(name), who does not exist") }
        return entry.pointee.pw_uid
    }

    package func uid(of room: RoomName) throws(ServiceError) -> UInt32 {
        guard let uid = uids[room] else { throw ServiceError("\(Self.path) does not name \(room.rawValue)") }
        return uid
    }

    /// Returns the uid that a peer room must have: the roster's if this process is one of its rooms, otherwise (user mode) this process's
    /// own.
    package static func expectedUID(of room: RoomName) throws(ServiceError) -> UInt32 {
        guard let roster = try installed(), roster.uids.values.contains(geteuid()) else { return geteuid() }
        return try roster.uid(of: room)
    }

    /// Returns whether this process is a room of the installed service.
    package static func isOfThisProcess() throws(ServiceError) -> Bool {
        try installed()?.uids.values.contains(geteuid()) ?? false
    }

    /// Parses the enclave's uid in a room's argument: a number, or the word `roster` for the uid in the installed list, since a unit file
    /// cannot contain the number of a user that the installation creates. Nil is a usage error. Must be called before hardening, after
    /// which the system's list of users cannot be read.
    package static func enclaveUID(
        _ word: String?, roster: () throws(ServiceError) -> Roster? = { () throws(ServiceError) in try installed() }
    ) throws(ServiceError) -> UInt32? {
        guard word == "roster" else { return word.flatMap(UInt32.init) }
        guard let roster = try roster() else { throw ServiceError("\(path) is not there") }
        return try roster.uid(of: .enclaved)
    }

    /// Parses the uid of another room in an argument in the same way; nil if the word is not valid, or if the installed list does not name
    /// the room.
    package static func uid(ofWord word: String, room: RoomName) throws(ServiceError) -> UInt32? {
        guard word == "roster" else { return UInt32(word) }
        return try installed()?.uids[room]
    }

    /// Returns the same as `expectedUID` for an attendant that an installation may lack; nil if the roster does not name it.
    package static func expectedUIDIfNamed(of room: RoomName) throws(ServiceError) -> UInt32? {
        guard let roster = try installed(), roster.uids.values.contains(geteuid()) else { return geteuid() }
        return roster.uids[room]
    }
}
