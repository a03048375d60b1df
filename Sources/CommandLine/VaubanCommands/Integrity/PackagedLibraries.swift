import Glibc
import VaubanLinuxHost
import VaubanPlainText

/// Finds out which libraries belong to an installed Debian package, by dpkg's lists of files, and can be changed only by root. On other
/// systems, none do.
struct PackagedLibraries {
    /// A prefix of the paths, and the user in root's place; tests set both.
    private let root: String
    private let owner: UInt32
    private var folders = OwnedFolders()
    private static let lists = "/var/lib/dpkg/info"
    private static let listBytesMax = 64 << 20
    private static let pathBytesMax = 4096
    private static let linksMax = 8

    init(root: String = "", owner: UInt32 = 0) {
        self.root = root
        self.owner = owner
    }

    /// Returns whether a package contains every file that an entry of the loader's list can mean, and only root can change these files. It
    /// never contains a name without a folder, since the loader searches many folders for that.
    mutating func contains(_ entry: String) -> Bool {
        let files = places(of: entry)
        return !files.isEmpty && files.allSatisfy { isPackaged($0) }
    }

    /// Returns the files that an entry can mean: the path itself or, if its name contains `${PLATFORM}`, which the loader replaces with the
    /// processor's name, every file in the folder whose name matches. Returns none for the loader's other variables.
    private func places(of entry: String) -> [String] {
        guard PathBytes.isPlain(entry, bytesMax: Self.pathBytesMax), let (folder, name) = PathBytes.parts(of: entry) else { return [] }
        let dollar = UInt8(ascii: "$")
        guard entry.utf8.contains(dollar) else { return [entry] }
        let bytes = Array(name.utf8)
        guard !folder.utf8.contains(dollar), let token = bytes.firstRange(of: Array("${PLATFORM}".utf8)) else { return [] }
        let (start, end) = (bytes[..<token.lowerBound], bytes[token.upperBound...])
        guard !start.contains(dollar), !end.contains(dollar) else { return [] }
        return SystemdFile.names(in: root + folder).filter { found in
            let found = Array(found.utf8)
            return found.count > start.count + end.count && found.starts(with: start) && found.suffix(end.count).elementsEqual(end)
        }.map { "\(folder)/\($0)" }
    }

    /// Follows links, each of which must be in a folder that only root can change.
    private mutating func isPackaged(_ path: String) -> Bool {
        var place = path
        for _ in 0..<Self.linksMax {
            var facts = stat()
            guard PathBytes.isPlain(place, bytesMax: Self.pathBytesMax), isClosed(above: place), lstat(root + place, &facts) == 0 else {
                return false
            }
            switch facts.st_mode & S_IFMT {
            case S_IFREG: return facts.st_uid == owner && facts.st_mode & 0o022 == 0 && isListed(place)
            case S_IFLNK:
                // In a folder such as /tmp, the link's owner can replace it.
                guard facts.st_uid == owner, let next = target(of: place) else { return false }
                place = next
            default: return false
            }
        }
        return false
    }

    /// Returns whether only root can change the folders above, including those that links among them lead to.
    private mutating func isClosed(above place: String) -> Bool {
        guard let folder = PathBytes.parts(of: place)?.folder, let real = Self.real(root + folder) else { return false }
        return folders.openPart(from: root + folder, owner: owner, allowsStaff: false) == nil
            && folders.openPart(from: real, owner: owner, allowsStaff: false) == nil && hasOwnLinks(folder)
    }

    /// Returns whether root owns every link among a folder and its parents, and each link leads to a folder without following another link.
    private func hasOwnLinks(_ folder: String) -> Bool {
        var place = folder
        while let parts = PathBytes.parts(of: place) {
            var facts = stat()
            guard lstat(root + place, &facts) == 0 else { return false }
            if facts.st_mode & S_IFMT == S_IFLNK {
                guard facts.st_uid == owner, let next = target(of: place), let real = Self.real(root + next),
                    real.isSameBytes(as: root + next)
                else { return false }
            }
            place = parts.folder
        }
        return true
    }

    private func target(of place: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Self.pathBytesMax)
        let count = readlink(root + place, &buffer, buffer.count)
        guard count > 0, count < buffer.count, let text = String(validating: buffer[..<count], as: UTF8.self) else { return nil }
        guard text.utf8.first != UInt8(ascii: "/"), let folder = PathBytes.parts(of: place)?.folder else { return text }
        return folder == "/" ? "/\(text)" : "\(folder)/\(text)"
    }

    /// Returns whether a package contains the file. Older lists name files by their folders before /lib moved under /usr.
    private mutating func isListed(_ place: String) -> Bool {
        guard let real = Self.real(root + place), real.hasBytePrefix(root) else { return false }
        let path = String(decoding: real.utf8.dropFirst(root.utf8.count), as: UTF8.self)
        var lines = [Array(path.utf8)]
        if path.hasBytePrefix("/usr/") {
            let short = String(decoding: path.utf8.dropFirst(4), as: UTF8.self)
            if Self.real(root + short)?.isSameBytes(as: real) == true { lines.append(Array(short.utf8)) }
        }
        guard folders.openPart(from: root + Self.lists, owner: owner, allowsStaff: false) == nil else { return false }
        return SystemdFile.names(in: root + Self.lists).filter { $0.hasByteSuffix(".list") }.contains { name in
            let list = "\(root)\(Self.lists)/\(name)"
            guard RootFile.isOnly(of: owner, list), let bytes = SmallFile.bytes(path: list, max: Self.listBytesMax) else { return false }
            return bytes.split(separator: 0x0A).contains { line in lines.contains { $0.elementsEqual(line) } }
        }
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}
