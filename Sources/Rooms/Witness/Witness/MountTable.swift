internal import VaubanPlainText

/// The mounts that a process sees, of `/proc/PID/mountinfo`: how a path of one view is found in another. Only a hint, since
/// whatever is found is compared with what was looked for.
package struct MountTable: Sendable {
    private struct Mount {
        let device: String
        /// The folder of the file system that is mounted, and where.
        let root: String
        let point: String
    }

    private let mounts: [Mount]
    private static let placesMax = 8

    /// `ID PARENT MAJOR:MINOR ROOT POINT …` a line.
    package init(_ text: [UInt8]) {
        mounts = text.split(separator: 0x0A).compactMap { line in
            let fields = line.split(separator: 0x20, maxSplits: 5, omittingEmptySubsequences: false)
            guard fields.count == 6, let device = String(validating: fields[2], as: UTF8.self), let root = Self.plain(fields[3]),
                let point = Self.plain(fields[4])
            else { return nil }
            return Mount(device: device, root: root, point: point)
        }
    }

    /// Where what this view has at a path may lie in another view.
    package func places(of path: String, in other: MountTable) -> [String] {
        var nearest: Mount?
        // A later mount lies over an earlier one.
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

    /// What follows the folder in the path, with its slash.
    private static func rest(of path: String, under folder: String) -> String? {
        if folder.isSameBytes(as: "/") { return path }
        guard let rest = path.dropping(bytePrefix: folder) else { return nil }
        return rest.isEmpty || rest.hasBytePrefix("/") ? rest : nil
    }

    private static func join(_ folder: String, _ rest: String) -> String { folder.isSameBytes(as: "/") ? rest : folder + rest }

    /// Spaces, tabs, line ends and backslashes are written as a backslash and three octal digits.
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
