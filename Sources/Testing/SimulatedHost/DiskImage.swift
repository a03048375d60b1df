// The contents of a disk and of the kernel's cache as a value, so that a test can keep one for each step.

/// Files and folders, each with its state in the kernel and its durable state. Node 0 is the root folder.
package struct DiskImage: Sendable, Hashable {
    enum Node: Sendable, Hashable {
        case folder(Folder)
        case file(File)
    }

    /// The names of a folder, by node.
    struct Folder: Sendable, Hashable {
        var durable: [String: Int] = [:]
        var shown: [String: Int] = [:]
        /// The changes since the last sync, in order.
        var changes: [Change] = []

        enum Change: Sendable, Hashable {
            case set(String, Int)
            case unset(String)
            case rename(String, to: String, Int)

            var node: Int? {
                switch self {
                case .set(_, let node), .rename(_, _, let node): node
                case .unset: nil
                }
            }
        }

        mutating func apply(_ change: Change) {
            Self.apply(change, to: &shown)
            changes.append(change)
        }

        static func apply(_ change: Change, to names: inout [String: Int]) {
            switch change {
            case .set(let name, let node): names[name] = node
            case .unset(let name): names[name] = nil
            case .rename(let name, let new, let node):
                // In POSIX, renaming a file to a second name of the same file changes nothing.
                if names[name] == node && names[new] == node { return }
                if names[name] == node { names[name] = nil }
                names[new] = node
            }
        }

        mutating func persist() {
            durable = shown
            changes = []
        }
    }

    struct File: Sendable, Hashable {
        var durable: [UInt8] = []
        var shown: [UInt8] = []
        /// Contents written since the last sync and abandoned by truncation.
        var abandoned: [[UInt8]] = []
        var isDirty = false
        /// A sync failed. Linux marks such pages as clean, so a later sync succeeds without writing them.
        var isForgotten = false

        mutating func persist() {
            guard !isForgotten else { return }
            durable = shown
            abandoned = []
            isDirty = false
        }
    }

    var nodes: [Node] = [.folder(Folder())]
    /// Nodes without a name, on the disk and in the cache, which can be reused.
    private var free: [Int] = []

    package init() {}

    /// The files as a process reads them, by path without the leading slash; without folders.
    package var files: [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        collect(0, "", into: &found)
        return found
    }

    private func collect(_ node: Int, _ path: String, into found: inout [String: [UInt8]]) {
        switch nodes[node] {
        case .file(let file): found[path] = file.shown
        case .folder(let folder):
            for (name, child) in folder.shown { collect(child, path.isEmpty ? name : "\(path)/\(name)", into: &found) }
        }
    }

    /// Whether a power cut would change nothing.
    package var isDurable: Bool {
        nodes.allSatisfy { node in
            switch node {
            case .folder(let folder): folder.changes.isEmpty
            case .file(let file): !file.isDirty
            }
        }
    }
}

extension DiskImage {
    func folder(_ node: Int) -> Folder? {
        if nodes.indices.contains(node), case .folder(let folder) = nodes[node] { folder } else { nil }
    }

    func file(_ node: Int) -> File? {
        if nodes.indices.contains(node), case .file(let file) = nodes[node] { file } else { nil }
    }

    mutating func add(_ node: Node, _ name: String, in folder: Int) -> Int {
        let place: Int
        if let last = free.popLast() {
            place = last
            nodes[place] = node
        } else {
            place = nodes.count
            nodes.append(node)
        }
        change(folder, .set(name, place))
        return place
    }

    mutating func change(_ node: Int, _ change: Folder.Change) {
        guard case .folder(var folder) = nodes[node] else { return }
        nodes[node] = .folder(Folder())
        folder.apply(change)
        nodes[node] = .folder(folder)
    }

    mutating func update(_ node: Int, _ body: (inout File) -> Void) {
        guard case .file(var file) = nodes[node] else { return }
        // Removed first, so that the bytes are changed in place.
        nodes[node] = .file(File())
        body(&file)
        nodes[node] = .file(file)
    }

    mutating func persistFolder(_ node: Int) {
        guard case .folder(var folder) = nodes[node] else { return }
        let before = Set(folder.durable.values).union(folder.changes.compactMap(\.node))
        folder.persist()
        nodes[node] = .folder(folder)
        // Files have names in one folder only, since renames stay within a folder.
        for gone in before.subtracting(folder.shown.values).sorted() where file(gone) != nil {
            nodes[gone] = .file(File())
            free.append(gone)
        }
    }
}
