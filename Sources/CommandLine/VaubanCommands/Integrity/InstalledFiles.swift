// The installed files, compared with the manifest.

import Crypto
import Glibc
import VaubanLinuxHost
import VaubanPlainText

/// How an installed file differs from the manifest.
package struct IntegrityDifference: Encodable, Sendable, Hashable {
    package enum What: String, Encodable, Sendable {
        case missing, kind, content, target, mode, owner, extra, writable, unreadable
    }

    package let path: String
    package let what: What
    /// A sentence without the path, such as `has mode 0777, not 0755`.
    package let detail: String
}

package struct InstalledFiles {
    private let manifest: IntegrityManifest
    /// The owner of the installation: root, or the user whose own it is.
    private let owner: UInt32
    private var found: [IntegrityDifference] = []
    private var folders = OwnedFolders()

    /// Returns each difference, in the order of the manifest, followed by the files that are not in it.
    package static func differences(from manifest: IntegrityManifest) -> [IntegrityDifference] {
        var files = InstalledFiles(manifest: manifest)
        for entry in manifest.entries { files.compare(entry) }
        files.compareManifest()
        files.findExtras()
        return files.found
    }

    private init(manifest: IntegrityManifest) {
        self.manifest = manifest
        owner = manifest.owner.flatMap(AccountNames.uid) ?? 0
    }

    private mutating func note(_ path: String, _ what: IntegrityDifference.What, detail: String) {
        found.append(IntegrityDifference(path: path, what: what, detail: detail))
    }

    private mutating func compare(_ entry: IntegrityManifest.Entry) {
        var facts = stat()
        guard lstat(entry.path, &facts) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return note(entry.path, .missing, detail: "is missing") }
            return note(entry.path, .unreadable, detail: "cannot be read: \(String(cString: strerror(errno)))")
        }
        let type = facts.st_mode & S_IFMT
        switch entry.kind {
        case .file(let access, let digest):
            guard type == S_IFREG else { return note(entry.path, .kind, detail: "is not a file") }
            compare(entry.path, facts: facts, with: access)
            switch Self.digest(of: entry.path) {
            case .success(digest): break
            case .success: note(entry.path, .content, detail: "has other contents")
            case .failure(let problem): note(entry.path, .unreadable, detail: "cannot be read: \(String(cString: strerror(problem.code)))")
            }
        case .folder(let access):
            guard type == S_IFDIR else { return note(entry.path, .kind, detail: "is not a folder") }
            compare(entry.path, facts: facts, with: access)
        case .link(let target):
            guard type == S_IFLNK else { return note(entry.path, .kind, detail: "is not a link") }
            let leads = Self.target(of: entry.path) ?? ""
            if !leads.isSameBytes(as: target) { note(entry.path, .target, detail: "leads to \(SafeText.visible(leads)), not to \(target)") }
        }
        if let part = folders.openPart(above: entry.path, owner: owner) {
            note(entry.path, .writable, detail: "can be replaced by others, who can change \(SafeText.visible(part))")
        }
    }

    private mutating func compare(_ path: String, facts: stat, with access: IntegrityManifest.Access) {
        let mode = UInt32(facts.st_mode & 0o7777)
        if mode != access.mode { note(path, .mode, detail: "has mode \(Self.octal(mode)), not \(Self.octal(access.mode))") }
        let owner = AccountNames.user(facts.st_uid)
        let group = AccountNames.group(facts.st_gid)
        if owner != access.owner || group != access.group {
            note(path, .owner, detail: "belongs to \(owner):\(group), not to \(access.owner):\(access.group)")
        }
    }

    /// Checks the manifest itself, which it does not list: everyone may read it, and only the owner of the installation may change it.
    private mutating func compareManifest() {
        for entry in manifest.entries {
            let path = "\(entry.path)/\(IntegrityManifest.name)"
            var facts = stat()
            guard case .folder = entry.kind, lstat(path, &facts) == 0 else { continue }
            guard facts.st_mode & S_IFMT == S_IFREG else {
                note(path, .kind, detail: "is not a file")
                continue
            }
            let mode = UInt32(facts.st_mode & 0o7777)
            if mode != 0o644 { note(path, .mode, detail: "has mode \(Self.octal(mode)), not 0644") }
            if facts.st_uid != owner {
                note(path, .owner, detail: "belongs to \(AccountNames.user(facts.st_uid)), not to \(AccountNames.user(owner))")
            }
        }
    }

    /// Finds files that are in a listed folder but not on the list.
    private mutating func findExtras() {
        var listed = Set(manifest.entries.map { Array($0.path.utf8) })
        for entry in manifest.entries {
            guard case .folder = entry.kind else { continue }
            listed.insert(Array("\(entry.path)/\(IntegrityManifest.name)".utf8))
        }
        for entry in manifest.entries {
            guard case .folder = entry.kind, let names = Self.names(in: entry.path) else { continue }
            for name in names.sorted() where !listed.contains(Array("\(entry.path)/\(name)".utf8)) {
                note("\(entry.path)/\(name)", .extra, detail: "is not part of the installation")
            }
        }
    }

    private static func names(in folder: String) -> [String]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func digest(of path: String) -> Result<String, SystemError> {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return .failure(SystemError("open", code: errno)) }
        let file = Descriptor(number)
        var hash = SHA256()
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let got = read(file.number, &chunk, chunk.count)
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { return .failure(SystemError("read", code: errno)) }
            if got == 0 { break }
            chunk.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<got])) }
        }
        return .success(hash.finalize().map { Self.hexadecimal($0) }.joined())
    }

    private static func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private static func target(of path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        guard count >= 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count], as: UTF8.self)
    }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
