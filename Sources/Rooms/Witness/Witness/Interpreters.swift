import Glibc
internal import Synchronization
internal import VaubanLinuxHost

/// Interpreters under other names: files with the content of an interpreter that is installed under its own name.
final class Interpreters: Sendable {
    private struct Folder {
        var changed: [Int] = []
        /// The folder's interpreters by size, since only a file of the same size must be read.
        var paths: [Int64: [String]] = [:]
    }

    private let places: [String]
    private let digests: DigestCache
    private let folders = Mutex<[String: Folder]>([:])

    /// `digests` also caches the digests of the installed interpreters.
    init(places: [String] = ["/usr/bin", "/bin", "/lib64", "/lib"], digests: DigestCache) {
        self.places = places
        self.digests = digests
    }

    func haveContent(_ digest: [UInt8], size: Int64) -> Bool {
        places.contains { place in
            paths(in: place, ofSize: size).contains { path in
                let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                guard number >= 0 else { return false }
                let file = Descriptor(number)
                guard let key = FileKey(file), key.isRegular else { return false }
                // Root's files, which nobody else can write.
                return digests.digest(of: file, key, isUnwritten: { true }) == digest
            }
        }
    }

    /// Returns the interpreters of a size. Reads the folder again when a file in it was replaced, which changes the folder.
    private func paths(in place: String, ofSize size: Int64) -> [String] {
        var facts = stat()
        guard stat(place, &facts) == 0 else { return [] }
        let changed = [Int(facts.st_dev), Int(facts.st_ino), facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec]
        if let known = folders.withLock({ $0[place] }), known.changed == changed { return known.paths[size] ?? [] }
        let folder = Folder(changed: changed, paths: Self.read(place))
        folders.withLock { $0[place] = folder }
        return folder.paths[size] ?? []
    }

    private static func read(_ place: String) -> [Int64: [String]] {
        var paths: [Int64: [String]] = [:]
        for name in FolderNames.of(place, where: InterpreterNames.contain).prefix(WitnessLimits.interpretersMax) {
            var facts = stat()
            guard stat("\(place)/\(name)", &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { continue }
            paths[Int64(facts.st_size), default: []].append("\(place)/\(name)")
        }
        return paths
    }
}

enum FolderNames {
    /// Returns the wanted names in a folder that are UTF-8; none if it cannot be read.
    static func of(_ path: String, where isWanted: (String) -> Bool) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(validating: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if let name, isWanted(name) { names.append(name) }
        }
        return names
    }
}
