import Foundation
import Glibc
import VaubanRefusal
import VaubanSyncCarrierWire
import VaubanSyncModel

/// A folder that something else carries between devices: a share, a stick, Syncthing.
struct SyncFolder: SyncCarrier {
    /// The statements about the circle, the files of each device, those that a member writes for a companion, and what passes between a new
    /// device and a member.
    enum Section {
        case circle
        case device([UInt8])
        case companion([UInt8], writer: [UInt8])
        case join
        /// What each member says of the access logs, in a file that has its device's name.
        case heads

        var path: String {
            switch self {
            case .circle: "circle"
            case .device(let device): "devices/\(StoredBackupFolder.hex(device))"
            case .companion(let companion, let writer):
                "companions/\(StoredBackupFolder.hex(companion))/\(StoredBackupFolder.hex(writer))"
            case .join: "join"
            case .heads: "heads"
            }
        }

        /// Whether a file of this section may have this name.
        func accepts(_ name: String) -> Bool {
            switch self {
            case .circle, .device, .companion: SyncFolder.number(of: name) != nil
            case .join: JoinFile.isName(name)
            case .heads: name.utf8.count == 2 * CircleRequest.deviceBytes && name.allSatisfy { $0.isHexDigit && !$0.isUppercase }
            }
        }
    }

    static let fileBytesMax = CarrierGrammar.fileBytesMax
    let path: String
    var place: String { path }

    func names(in section: Section) throws(Refusal) -> [String] {
        let folder = "\(path)/\(section.path)"
        guard BackupFiles.isFolder(path) else {
            throw Refusal(.badParameter, "The folder \(SafeText.visible(path)) of vauban sync is not there")
        }
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { !$0.hasSuffix(".partial") }.sorted()
    }

    func read(_ name: String, in section: Section) throws(Refusal) -> [UInt8]? {
        try BackupFiles.read("\(path)/\(section.path)/\(name)", max: Self.fileBytesMax)
    }

    func add(_ bytes: [UInt8], named name: String, in section: Section) throws(Refusal) {
        let file = try prepare(name, in: section, bytes)
        _ = try BackupFiles.add(file, bytes)
        guard try read(name, in: section) == bytes else { throw Self.taken("\(section.path)/\(name)") }
    }

    func replace(_ bytes: [UInt8], named name: String, in section: Section) throws(Refusal) {
        try BackupFiles.replace(try prepare(name, in: section, bytes), with: bytes, isShared: true)
    }

    /// Makes the folder of a file, and returns its path.
    private func prepare(_ name: String, in section: Section, _ bytes: [UInt8]) throws(Refusal) -> String {
        guard bytes.count <= Self.fileBytesMax else { throw Refusal(.internalError, "a file of vauban sync is too long") }
        let folder = "\(path)/\(section.path)"
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Refusal(.badParameter, "The folder \(SafeText.visible(folder)) cannot be made")
        }
        return "\(folder)/\(name)"
    }

    static func taken(_ name: String) -> Refusal {
        Refusal(
            .badParameter,
            "The folder has another file \(name): two devices wrote at once, or somebody interferes. Run vauban sync leave here and join "
                + "again; what was just done here, such as a removal, must then be done again")
    }

    func remove(_ name: String, in section: Section) { unlink("\(path)/\(section.path)/\(name)") }

    var remedyForMissingFiles: String { "Copy all of it" }

    func remedyForForeignFile(_ name: String, in section: Section) -> String { "remove it" }

    /// Makes a folder for a new circle. One with other content is not used.
    static func new(_ path: String) throws(Refusal) -> SyncFolder {
        let folder = SyncFolder(path: URL(fileURLWithPath: path).standardizedFileURL.path)
        if mkdir(folder.path, 0o700) != 0, errno != EEXIST {
            throw NewFile.refusal("make the folder \(SafeText.visible(path))", errno)
        }
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) cannot be read")
        }
        guard entries.isEmpty else {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(path)) is not empty; choose another folder, or join the circle in it with vauban sync join"
            )
        }
        return folder
    }

    /// Returns the whole path of a folder that exists.
    static func existing(_ path: String) throws(Refusal) -> String {
        guard BackupFiles.isFolder(path) else { throw Refusal(.badParameter, "\(SafeText.visible(path)) is not a folder") }
        return URL(fileURLWithPath: path).standardizedFileURL.path
    }

    /// Numbers in names have eight digits, so that they sort.
    static func name(of number: Int64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    static func number(of name: String) -> Int64? {
        guard let number = Int64(name), number > 0, self.name(of: number) == name else { return nil }
        return number
    }
}
