// A recording of what SQLite did to the files of one folder, and the disks that a kill or a power cut at any moment of it could leave.

import CSQLiteRecorder
import Foundation
import Glibc
import SimulatedHost
import VaubanLinuxHost

/// A folder under which every write is recorded, as long as this object exists.
final class RecordedDisk {
    let folder: PrivateFolder
    private let recorder: OpaquePointer
    /// The content when the recording began, which is durable.
    private let baseline: [String: [UInt8]]

    init(_ folder: PrivateFolder) throws {
        self.folder = folder
        baseline = try Self.files(folder)
        guard let recorder = recorder_begin(folder.path) else { throw SystemError("begin to record", code: ENOMEM) }
        self.recorder = recorder
    }

    deinit { recorder_end(recorder) }

    var count: Int { recorder_count(recorder) }

    /// The number of times that SQLite waited for the disk.
    var syncs: Int { (0..<count).count { recorder_kind(UInt32(recorder_at(recorder, $0).kind)) == RECORDER_SYNC } }

    func fail(after passing: Int, for failing: Int) { recorder_fail(recorder, Int64(passing), Int64(failing)) }

    /// Creates the folder in memory if there is such a file system, since ten thousand disks are written.
    static func makeFolder() throws -> PrivateFolder {
        let place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()
        return try PrivateFolder(path: "\(place)/vauban-disk-\(UUID().uuidString)", creating: true)
    }

    private static func files(_ folder: PrivateFolder) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix("-shm") {
            files[name] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(name)")))
        }
        return files
    }

    // MARK: Possible disks

    enum End: CaseIterable {
        /// The process is killed: its writes remain.
        case kill
        /// The power fails: each write since the last sync of its file is kept, lost or torn.
        case powerCut
        /// The same, and most writes are lost.
        case powerCutBeforeMost
    }

    /// Returns files that an end after this many operations could leave.
    func left(after count: Int, by end: End, _ chance: inout SplitMix64) -> [String: [UInt8]] {
        var names = baseline.mapValues { FileOnDisk(durable: $0) }
        for index in 0..<count {
            let event = recorder_at(recorder, index)
            guard let name = recorder_name(recorder, event.file).map({ String(cString: $0) }) else { continue }
            names[name, default: FileOnDisk()].take(event)
        }
        return names.compactMapValues { $0.left(by: end, &chance) }
    }

    static func make(_ files: [String: [UInt8]]) throws -> PrivateFolder {
        let folder = try makeFolder()
        for (name, bytes) in files {
            let path = "\(folder.path)/\(name)"
            let file = Descriptor(try SystemError.check(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600), "make \(path)"))
            let written = bytes.withUnsafeBytes { write(file.number, $0.baseAddress, $0.count) }
            guard written == bytes.count else { throw SystemError("write \(path)", code: ENOSPC) }
        }
        return folder
    }
}

/// One name, with its durable content and the operations since.
private struct FileOnDisk {
    private struct Content {
        var durable: [UInt8] = []
        var pending: [Change] = []
        /// A new file's name is durable with its first sync, since SQLite syncs the folder with it.
        var hasDurableName = false
    }

    private enum Change {
        case write(Int, [UInt8])
        case truncate(Int)
    }

    private var shown: Content?
    /// The previous file, whose removal may not be durable yet.
    private var removed: Content?

    init() {}

    init(durable: [UInt8]) { shown = Content(durable: durable, hasDurableName: true) }

    mutating func take(_ event: recorder_event) {
        switch recorder_kind(UInt32(event.kind)) {
        case RECORDER_CREATE: if shown == nil { shown = Content() }
        case RECORDER_WRITE:
            shown?.pending.append(.write(Int(event.offset), Array(UnsafeBufferPointer(start: event.bytes, count: event.count))))
        case RECORDER_TRUNCATE: shown?.pending.append(.truncate(Int(event.offset)))
        case RECORDER_SYNC:
            guard var content = shown else { return }
            for change in content.pending { Self.apply(change, to: &content.durable) }
            content.pending = []
            content.hasDurableName = true
            shown = content
            removed = nil
        default:
            if let shown, shown.hasDurableName { removed = shown }
            shown = nil
            if event.offset == 1 { removed = nil }
        }
    }

    func left(by end: RecordedDisk.End, _ chance: inout SplitMix64) -> [UInt8]? {
        guard end != .kill else {
            guard var content = shown else { return nil }
            for change in content.pending { Self.apply(change, to: &content.durable) }
            return content.durable
        }
        let names = (shown.map { $0.hasDurableName ? [$0] : [$0, removed] } ?? [nil, removed])
        guard let content = names[chance.below(names.count)] else { return nil }
        var bytes = content.durable
        for change in content.pending {
            // Kept, lost, or torn: a disk keeps or loses whole sectors.
            let kept = chance.below(end == .powerCut ? 3 : 12)
            switch (kept, change) {
            case (0, _): Self.apply(change, to: &bytes)
            case (1, .write(let offset, let written)): Self.tear(written, at: offset, into: &bytes, &chance)
            default: continue
            }
        }
        return bytes
    }

    private static let sector = 512

    private static func tear(_ written: [UInt8], at offset: Int, into bytes: inout [UInt8], _ chance: inout SplitMix64) {
        var start = 0
        while start < written.count {
            let end = min(written.count, start + sector - (offset + start) % sector)
            if chance.below(2) == 0 { apply(.write(offset + start, Array(written[start..<end])), to: &bytes) }
            start = end
        }
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .write(let offset, let written):
            if bytes.count < offset + written.count { bytes += [UInt8](repeating: 0, count: offset + written.count - bytes.count) }
            bytes.replaceSubrange(offset..<offset + written.count, with: written)
        case .truncate(let size):
            if bytes.count > size {
                bytes.removeLast(bytes.count - size)
            } else {
                bytes += [UInt8](repeating: 0, count: size - bytes.count)
            }
        }
    }
}
