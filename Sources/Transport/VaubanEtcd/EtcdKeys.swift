import VaubanSyncCarrierWire

/// The keys of one user's files: `/vauban/1/USER/files/SECTION/NAME`, and for the parts of a file that is too long for one value
/// `/vauban/1/USER/parts/SECTION/NAME/DIGEST/NUMBER`.
package struct EtcdKeys: Sendable {
    private let root: String

    /// Whether a text is a valid user name: it is part of keys, and the name of a role (Install/etcd/lib.sh has the same rule).
    package static func isUser(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text != "root" && !text.hasPrefix("-")
            && text.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-".utf8.contains($0) }
    }

    package init(user: String) { root = "/vauban/1/\(user)" }

    package func file(named name: String, in section: String) -> [UInt8] { Array("\(root)/files/\(section)/\(name)".utf8) }

    /// The keys of a section's files.
    package func files(in section: String) -> EtcdKeyRange { EtcdKeyRange(in: "\(root)/files/\(section)") }

    /// The keys of all files.
    var allFiles: EtcdKeyRange { EtcdKeyRange(in: "\(root)/files") }

    /// Returns the section of a file's key; nil for any other key.
    func section(of key: [UInt8]) -> String? {
        let prefix = "\(root)/files/"
        guard let text = String(validating: key, as: UTF8.self), text.hasPrefix(prefix),
            let slash = text.lastIndex(of: "/"), CarrierGrammar.isName(text[text.index(after: slash)...])
        else { return nil }
        let section = text[..<slash].dropFirst(prefix.count)
        return CarrierGrammar.isSection(String(section)) ? String(section) : nil
    }

    package func part(_ number: Int, ofFile digest: String, named name: String, in section: String) -> [UInt8] {
        Array("\(root)/parts/\(section)/\(name)/\(digest)/\(number)".utf8)
    }

    package func parts(ofFileNamed name: String, in section: String) -> EtcdKeyRange {
        EtcdKeyRange(in: "\(root)/parts/\(section)/\(name)")
    }

    package func parts(ofFile digest: String, named name: String, in section: String) -> EtcdKeyRange {
        EtcdKeyRange(in: "\(root)/parts/\(section)/\(name)/\(digest)")
    }
}

/// A half-open range of keys, as etcd expects it.
package struct EtcdKeyRange: Hashable, Sendable {
    package var start: [UInt8]
    package let end: [UInt8]
    private let prefix: [UInt8]

    /// All keys below a path. The byte after "/" is "0".
    init(in path: String) {
        prefix = Array("\(path)/".utf8)
        start = prefix
        end = Array("\(path)0".utf8)
    }

    private init(start: [UInt8], end: [UInt8], prefix: [UInt8]) {
        self.start = start
        self.end = end
        self.prefix = prefix
    }

    /// Returns the parts of this range before and after another range.
    package func around(_ inner: EtcdKeyRange) -> [EtcdKeyRange] {
        [EtcdKeyRange(start: start, end: inner.start, prefix: prefix), EtcdKeyRange(start: inner.end, end: end, prefix: prefix)]
    }

    /// Returns the rest of the range after a key.
    package func after(_ key: [UInt8]) -> EtcdKeyRange { EtcdKeyRange(start: key + [0], end: end, prefix: prefix) }

    package func contains(_ key: [UInt8]) -> Bool {
        !key.lexicographicallyPrecedes(start) && key.lexicographicallyPrecedes(end)
    }

    /// Returns the name of the file with this key; nil for a key that is not in the range.
    package func name(of key: [UInt8]) -> String? {
        guard key.starts(with: prefix), let name = String(validating: key.dropFirst(prefix.count), as: UTF8.self),
            CarrierGrammar.isName(name)
        else { return nil }
        return name
    }
}
