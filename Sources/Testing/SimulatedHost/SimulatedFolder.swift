import Glibc
package import VaubanLinuxHost

/// A folder of a simulated disk.
package struct SimulatedFolder: StateFolder {
    package let disk: SimulatedDisk
    let node: Int
    package let path: String

    package func file(_ name: String) throws(SystemError) -> (any StateFile)? {
        guard let child = shown(name) else { return nil }
        try disk.throwIfUnreadable(name)
        guard disk.withImage({ $0.file(child) != nil }) else { throw SystemError("read \(name), which is not a file", code: EPERM) }
        return SimulatedFile(disk: disk, node: child)
    }

    package func create(_ name: String) throws(SystemError) -> any StateFile {
        SimulatedFile(disk: disk, node: try make(name, .file(DiskImage.File())))
    }

    /// Opens a file and truncates it, or creates it if necessary. State writes must never do this; it exists so that a test can show that
    /// the simulation detects it.
    package func truncate(_ name: String) throws(SystemError) -> any StateFile {
        guard let child = shown(name) else { return try create(name) }
        try disk.step(.making, name: name) { (image) throws(SystemError) in
            image.update(child) { file in
                if file.isDirty { file.abandoned.append(file.shown) }
                file.shown = []
                file.isDirty = true
                file.isForgotten = false
            }
        }
        return SimulatedFile(disk: disk, node: child)
    }

    package func rename(_ name: String, to new: String) throws(SystemError) {
        try disk.step(.making, name: new) { (image) throws(SystemError) in
            guard let child = image.folder(node)?.shown[name] else { throw SystemError("put \(new) in place", code: ENOENT) }
            image.change(node, .rename(name, to: new, child))
        }
    }

    package func sync() throws(SystemError) {
        try disk.step(.syncing, name: path) { (image) throws(SystemError) in image.persistFolder(node) }
    }

    package func remove(_ name: String) {
        // Like a real folder, this ignores failures to remove.
        try? disk.step(.removing, name: name) { (image) throws(SystemError) in
            guard let child = image.folder(node)?.shown[name], image.file(child) != nil else { return }
            image.change(node, .unset(name))
        }
    }

    package func names() throws(SystemError) -> [String] {
        try disk.throwIfUnreadable(path)
        return disk.withImage { Array($0.folder(node)?.shown.keys ?? [:].keys) }
    }

    package func contains(_ name: String) -> Bool { shown(name) != nil }

    package func subfolder(_ name: String, creating: Bool) throws(PrivateFolder.OpeningError) -> SimulatedFolder {
        let place = "\(path)/\(name)"
        if let child = shown(name) {
            guard disk.withImage({ $0.folder(child) != nil }) else { throw .system(SystemError("open the folder \(place)", code: ENOTDIR)) }
            return SimulatedFolder(disk: disk, node: child, path: place)
        }
        do throws(SystemError) {
            guard creating else { throw SystemError("open the folder \(place)", code: ENOENT) }
            return SimulatedFolder(disk: disk, node: try make(name, .folder(DiskImage.Folder())), path: place)
        } catch {
            throw .system(error)
        }
    }

    private func shown(_ name: String) -> Int? { disk.withImage { $0.folder(node)?.shown[name] } }

    private func make(_ name: String, _ new: DiskImage.Node) throws(SystemError) -> Int {
        try disk.step(.making, name: name) { (image) throws(SystemError) -> Int in
            guard image.folder(node)?.shown[name] == nil else { throw SystemError("make \(name)", code: EEXIST) }
            return image.add(new, name, in: node)
        }
    }
}

struct SimulatedFile: StateFile {
    let disk: SimulatedDisk
    let node: Int

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
        disk.withImage { image in
            guard let bytes = image.file(node)?.shown.dropFirst(offset).prefix(buffer.count) else { return 0 }
            buffer.copyBytes(from: bytes)
            return bytes.count
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
        try disk.write(bytes, at: offset, to: node)
    }

    func sync() throws(SystemError) {
        let fail = { (image: inout DiskImage) in image.update(node) { $0.isForgotten = $0.isForgotten || $0.isDirty } }
        try disk.step(.syncing, name: "a file", failing: fail) { (image) throws(SystemError) in image.update(node) { $0.persist() } }
    }
}
