import Foundation
import Glibc
package import VaubanLinuxHost
package import VaubanRefusal
import VaubanSyncCarrierWire
import VaubanSyncModel

/// A folder that something else carries between devices: a share, a stick, Syncthing.
package struct SyncFolder: SyncCarrier {
    /// A section of the folder: the statements about the circle, the files of each device, those that a member writes for a companion, or
    /// what passes between a new device and a member.
    package enum Section {
        case circle
        case device([UInt8])
        case companion([UInt8], writer: [UInt8])
        case join
        /// Each member's report on the access logs, in a file named after its device.
        case heads
        /// The prompts that a device forwards (Specs/forwarded-prompts.md).
        case prompts([UInt8])

        package var path: String {
            switch self {
            case .circle: "circle"
            case .device(let device): "devices/\(StoredBackupFolder.hex(device))"
            case .companion(let companion, let writer):
                "companions/\(StoredBackupFolder.hex(companion))/\(StoredBackupFolder.hex(writer))"
            case .join: "join"
            case .heads: "heads"
            case .prompts(let device): "\(Self.promptsFolder)/\(StoredBackupFolder.hex(device))"
            }
        }

        static let promptsFolder = "prompts"

        /// Whether a file of this section may have this name.
        func accepts(_ name: String) -> Bool {
            switch self {
            case .circle, .device, .companion: SyncFolder.number(of: name) != nil
            case .join: JoinFile.isName(name)
            case .prompts: ForwardedFile(rawValue: name) != nil
            case .heads: name.utf8.count == 2 * CircleRequest.deviceBytes && name.allSatisfy { $0.isHexDigit && !$0.isUppercase }
            }
        }
    }

    /// A file of a section.
    package struct File {
        package let name: String
        package let section: Section
    }

    static let fileBytesMax = CarrierGrammar.fileBytesMax
    let path: String
    package var place: String { path }

    package func names(in section: Section) throws(Refusal) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(section.path)")) ?? []
        // Check this last: if the folder disappeared while it was listed, its files are not missing.
        try requireFolder()
        return names.filter { !$0.hasSuffix(".partial") && !BackupFiles.isMarker($0) }.sorted()
    }

    package func read(_ name: String, in section: Section) throws(Refusal) -> [UInt8]? {
        if let bytes = try BackupFiles.read("\(path)/\(section.path)/\(name)", max: Self.fileBytesMax) { return bytes }
        try requireFolder()
        return nil
    }

    package func add(_ bytes: [UInt8], named name: String, in section: Section) throws(Refusal) {
        let file = try prepare(name, in: section, bytes)
        _ = try BackupFiles.add(file, bytes)
        guard try read(name, in: section) == bytes else { throw Self.taken("\(section.path)/\(name)") }
    }

    package func replace(_ bytes: [UInt8], named name: String, in section: Section) throws(Refusal) {
        try BackupFiles.replace(try prepare(name, in: section, bytes), with: bytes, isShared: true)
    }

    private func requireFolder() throws(Refusal) {
        guard BackupFiles.isFolder(path) else {
            throw Refusal(
                .badParameter,
                "The folder \(SafeText.visible(path)) of vauban sync is not there; mount it, or name another: vauban sync --folder FOLDER")
        }
    }

    /// Makes the folder of a file, and returns the file's path. Never makes a new folder in place of a stick that is not mounted.
    private func prepare(_ name: String, in section: Section, _ bytes: [UInt8]) throws(Refusal) -> String {
        guard bytes.count <= Self.fileBytesMax else { throw Refusal(.internalError, "a file of vauban sync is too long") }
        var folder = path
        // Make one part at a time, so that the folder itself is never created again, even if it disappears now.
        for part in section.path.split(separator: "/") {
            folder += "/\(part)"
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
                let code = errno
                try requireFolder()
                throw Refusal(.badParameter, SystemError("make the folder \(SafeText.visible(folder))", code: code).sentence)
            }
            // Whoever carries the folder may have put a link here, to a folder of the user's with files of these names.
            var status = stat()
            guard lstat(folder, &status) == 0 else {
                try requireFolder()
                throw Refusal(.unavailable, "Another device removed \(SafeText.visible(folder)) at this moment; try again")
            }
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw Refusal(
                    .badParameter, "\(SafeText.visible(folder)) is not a folder: the folder of vauban sync was altered; remove it")
            }
        }
        return "\(folder)/\(name)"
    }

    static func taken(_ name: String) -> Refusal {
        Refusal(
            .badParameter,
            "The folder has another file \(name): two devices wrote at once, or it was tampered with. Run vauban sync leave here and join "
                + "again; what was just done here, such as a removal, must then be done again")
    }

    /// Thrown if a file exists that must not exist when another one is read or written.
    static var changed: Refusal { Refusal(.keysChanged, "The circle was changed meanwhile; try again") }

    package func watch(
        for subject: CarrierSubject, besides device: [UInt8], waking wakeup: Wakeup
    ) throws(Refusal) -> any CarrierMonitor {
        try FolderMonitor(path, for: subject, besides: StoredBackupFolder.hex(device), waking: wakeup)
    }

    package func remove(_ name: String, in section: Section) { try? erase(name, in: section) }

    package func erase(_ name: String, in section: Section) throws(Refusal) {
        let failed = { NewFile.refusal("remove \(SafeText.visible(section.path))/\(SafeText.visible(name))", $0) }
        let folder: Descriptor?
        do throws(SystemError) { folder = try opened(section.path.split(separator: "/")) } catch { throw failed(error.code) }
        guard let folder else { return }
        guard unlinkat(folder.number, name, 0) == 0 || errno == ENOENT else { throw failed(errno) }
    }

    /// Opens a folder below this one, part by part, so that no part is a link: whoever carries the folder may have put one there, to files
    /// of the user's with these names. Returns nil if there is no such folder.
    private func opened(_ parts: some Sequence<Substring>) throws(SystemError) -> Descriptor? {
        var folder = Descriptor(try SystemError.check(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open the folder"))
        for part in parts {
            let number = openat(folder.number, String(part), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            if number < 0, errno == ENOENT { return nil }
            folder = Descriptor(try SystemError.check(number, "open the folder"))
        }
        return folder
    }

    package func tidy(_ section: Section) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(section.path)")) ?? []
        for name in names where name.hasSuffix(".partial") && !BackupFiles.isMarker(name) { try? erase(name, in: section) }
        // Folders with other content stay.
        var parts = section.path.split(separator: "/")
        let removed = if case .companion = section { 2 } else { 1 }
        for _ in 0..<removed {
            guard let last = parts.popLast(), let parent = try? opened(parts) else { return }
            unlinkat(parent.number, String(last), AT_REMOVEDIR)
        }
    }

    package var remedyForMissingFiles: String { "Copy all of it" }

    package func remedyForForeignFile(_ name: String, in section: Section) -> String { "remove it" }

    /// Makes a folder for a new circle. Throws if a folder exists and has more content than markers of other programs.
    package static func new(_ path: String) throws(Refusal) -> SyncFolder {
        let folder = SyncFolder(path: URL(fileURLWithPath: path).standardizedFileURL.path)
        if mkdir(folder.path, 0o700) != 0, errno != EEXIST {
            throw NewFile.refusal("make the folder \(SafeText.visible(path))", errno)
        }
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) cannot be read")
        }
        guard entries.allSatisfy(BackupFiles.isMarker) else {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(path)) is not empty; choose another folder, or join the circle in it with vauban sync join"
            )
        }
        return folder
    }

    /// Returns the full path of an existing folder.
    static func existing(_ path: String) throws(Refusal) -> String {
        guard BackupFiles.isFolder(path) else { throw Refusal(.badParameter, "\(SafeText.visible(path)) is not a folder") }
        return URL(fileURLWithPath: path).standardizedFileURL.path
    }

    /// Returns the name of the file with this number, in eight digits so that names sort.
    package static func name(of number: Int64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    package static func number(of name: String) -> Int64? {
        guard let number = Int64(name), number > 0, self.name(of: number) == name else { return nil }
        return number
    }
}
