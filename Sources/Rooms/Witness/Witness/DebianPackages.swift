import Glibc
internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanPlainText

/// The Debian package of a file, by dpkg's lists of files; none on other systems. For display only.
package final class DebianPackages: Sendable {
    private struct Kept {
        var changed: [Int] = []
        /// The packages found, by the bytes of the path.
        var names: [[UInt8]: String?] = [:]
    }

    private let folder: String
    private let kept = Mutex(Kept())

    package init(folder: String = "/var/lib/dpkg/info") { self.folder = folder }

    package func package(of path: String) -> String? {
        var facts = stat()
        guard stat(folder, &facts) == 0 else { return nil }
        let changed = [facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec]
        let known: String?? = kept.withLock { kept in
            if kept.changed != changed { kept = Kept(changed: changed) }
            return kept.names[Array(path.utf8)]
        }
        if let known { return known }
        // Not under the lock, since the first search for a program reads every list.
        let found = search(path)
        kept.withLock { kept in
            guard kept.changed == changed else { return }
            if kept.names.count >= WitnessLimits.packagesMax { kept.names = [:] }
            kept.names[Array(path.utf8)] = .some(found)
        }
        return found
    }

    private func search(_ path: String) -> String? {
        // Older lists name files by the folders from before /bin and /lib moved under /usr.
        let lines = path.hasBytePrefix("/usr/") ? [Array(path.utf8), Array(path.utf8.dropFirst(4))] : [Array(path.utf8)]
        let list = FolderNames.of(folder) { $0.hasByteSuffix(".list") }.first { name in
            guard let text = SmallFile.bytes(path: "\(folder)/\(name)", max: WitnessLimits.packageListBytesMax) else { return false }
            return Self.has(text, anyOf: lines)
        }
        // A package of several architectures is NAME:ARCHITECTURE.list.
        let name = list?.dropLast(5).prefix { $0 != ":" }
        return name.flatMap { $0.isEmpty || $0.utf8.count > WitnessLimits.unitBytesMax ? nil : String($0) }
    }

    private static func has(_ text: [UInt8], anyOf lines: [[UInt8]]) -> Bool {
        text.withUnsafeBytes { text in
            var rest = text[...]
            while !rest.isEmpty, let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress {
                let length = memchr(start, 0x0A, rest.count).map { UnsafeRawPointer($0) - start } ?? rest.count
                if lines.contains(where: { $0.count == length && memcmp($0, start, length) == 0 }) { return true }
                guard length < rest.count else { return false }
                rest = rest.dropFirst(length + 1)
            }
            return false
        }
    }
}
