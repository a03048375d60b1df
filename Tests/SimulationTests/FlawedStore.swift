import Enclave
import EnclaveSoftware
import SimulatedHost
import VaubanLinuxHost

/// Stores that violate a store's guarantees.
struct FlawedStore: StateStore {
    private let flaw: Flaw
    private let disk: SimulatedDisk
    private let good: FileStateStore

    /// Nil if the flaw is not one of a store.
    init?(_ flaw: Flaw, _ disk: SimulatedDisk) {
        guard [.attemptsNotWritten, .reportedTooEarly, .writtenInPlace, .oldKeybagRead].contains(flaw) else { return nil }
        self.flaw = flaw
        self.disk = disk
        good = flaw == .reportedTooEarly ? FileStateStore(in: HastyFolder(inner: disk.root)) : FileStateStore(in: disk.root)
    }

    func read(_ name: StateName, of user: UInt32, max: Int) throws(StateError) -> [UInt8]? {
        if flaw == .oldKeybagRead, name == .keybag, let old = disk.image.files["keybag.old"] { return old }
        return try good.read(name, of: user, max: max)
    }

    func replace(_ name: StateName, of user: UInt32, with bytes: [UInt8]) throws(StateError) {
        let path = "people/\(user)/\(name.rawValue)"
        let old = disk.image.files[path]
        switch flaw {
        case .attemptsNotWritten where name == .attempts && old != nil: return
        case .writtenInPlace where old != nil:
            do { try writeOver(name, of: user, with: bytes) } catch { throw .failed("\(error)") }
        case .oldKeybagRead where name == .keybag && old != nil:
            try good.replace(name, of: user, with: bytes)
            do { try DurableFile("keybag.old", in: disk.root).replace(with: old ?? []) } catch { throw .failed("\(error)") }
        default: try good.replace(name, of: user, with: bytes)
        }
    }

    func quarantine(_ name: StateName, of user: UInt32) throws(StateError) -> String { try good.quarantine(name, of: user) }
    func quarantined(_ name: StateName, of user: UInt32) throws(StateError) -> [String] { try good.quarantined(name, of: user) }

    private func writeOver(_ name: StateName, of user: UInt32, with bytes: [UInt8]) throws {
        let place = try disk.root.subfolder("people", creating: false).subfolder("\(user)", creating: false)
        let file = try place.truncate(name.rawValue)
        var written = 0
        while written < bytes.count { written += try bytes[written...].withUnsafeBytes { try file.write($0, at: written) } }
        try file.sync()
        try place.sync()
    }
}

/// A folder whose syncs do nothing.
private struct HastyFolder: StateFolder {
    let inner: SimulatedFolder
    var path: String { inner.path }

    func file(_ name: String) throws(SystemError) -> (any StateFile)? { try inner.file(name).map(HastyFile.init) }
    func create(_ name: String) throws(SystemError) -> any StateFile { HastyFile(inner: try inner.create(name)) }
    func rename(_ name: String, to new: String) throws(SystemError) { try inner.rename(name, to: new) }
    func sync() throws(SystemError) {}
    func remove(_ name: String) { inner.remove(name) }
    func names() throws(SystemError) -> [String] { try inner.names() }
    func contains(_ name: String) -> Bool { inner.contains(name) }
    func subfolder(_ name: String, creating: Bool) throws(PrivateFolder.OpeningError) -> HastyFolder {
        HastyFolder(inner: try inner.subfolder(name, creating: creating))
    }
}

private struct HastyFile: StateFile {
    let inner: any StateFile
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
        try inner.read(into: buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int { try inner.write(bytes, at: offset) }
    func sync() throws(SystemError) {}
}
