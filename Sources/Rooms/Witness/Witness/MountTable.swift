internal import VaubanLinuxHost
internal import VaubanPlainText

/// The mounts that a process sees, from `/proc/PID/mountinfo`: they map a path of one view to another. Only a hint, since every file that
/// is found is compared with the one wanted.
package struct MountTable: Sendable {
    private struct Mount {
        let device: String
        /// The mounted folder of the file system, and the mount point.
        let root: String
        let point: String
    }

    private let mounts: [Mount]
    private static let placesMax = 8

    /// Parses lines of `ID PARENT MAJOR:MINOR ROOT POINT …`.
    package init(_ text: [UInt8]) {
        mounts = text.split(separator: 0x0A).compactMap { line in
            let fields = line.split(separator: 0x20, maxSplits: 5, omittingEmptySubsequences: false)
            guard fields.count == 6, let device = String(validating: fields[2], as: UTF8.self), let root = Self.plain(fields[3]),
                let point = Self.plain(fields[4])
            else { return nil }
            return Mount(device: device, root: root, point: point)
        }
    }

    /// Returns whether a mount of this number, in digits, is in the text.
    package static func has(_ number: [UInt8], in text: [UInt8]) -> Bool {
        text.split(separator: 0x0A).contains { $0.prefix { $0 != 0x20 }.elementsEqual(number) }
    }

    /// Returns where the file at a path of this view may be in another view.
    package func places(of path: String, in other: MountTable) -> [String] {
        var nearest: Mount?
        // A later mount covers an earlier one.
        for mount in mounts where Self.rest(of: path, under: mount.point) != nil && mount.point.utf8.count >= nearest?.point.utf8.count ?? 0
        {
            nearest = mount
        }
        guard let nearest, let rest = Self.rest(of: path, under: nearest.point) else { return [] }
        let within = Self.join(nearest.root, rest)
        let found = other.mounts.compactMap { mount -> String? in
            guard mount.device == nearest.device, let rest = Self.rest(of: within, under: mount.root) else { return nil }
            return Self.join(mount.point, rest)
        }
        return Array(found.filter { !$0.isSameBytes(as: path) }.prefix(Self.placesMax))
    }

    /// Returns what follows the folder in the path, with its slash.
    private static func rest(of path: String, under folder: String) -> String? {
        if folder.isSameBytes(as: "/") { return path }
        guard let rest = path.dropping(bytePrefix: folder) else { return nil }
        return rest.isEmpty || rest.hasBytePrefix("/") ? rest : nil
    }

    private static func join(_ folder: String, _ rest: String) -> String { folder.isSameBytes(as: "/") ? rest : folder + rest }

    /// Decodes a field. Spaces, tabs, line ends and backslashes are written as a backslash and three octal digits.
    private static func plain(_ field: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            guard byte == 0x5C else { bytes.append(byte); continue }
            guard let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8) else { return nil }
            bytes.append(code)
            rest = rest.dropFirst(3)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension Descriptor {
    /// The number of the mount that the open file is on, in digits; nil if the kernel does not report it.
    var mount: [UInt8]? {
        guard let text = SmallFile.bytes(path: "/proc/self/fdinfo/\(number)", max: WitnessLimits.statusBytesMax) else { return nil }
        let name = Array("mnt_id:".utf8)
        for line in text.split(separator: 0x0A) where line.starts(with: name) {
            return Array(line.dropFirst(name.count).drop { $0 == 0x09 || $0 == 0x20 })
        }
        return nil
    }
}
