import CVaubanLinux
import Foundation
import Glibc
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal

/// An item's attributes in the user's editor. The file is in memory, in a folder that only the user can enter, and is removed when this
/// process ends: stored attributes are encrypted, and editing must not leave them on a disk.
struct ItemEditor {
    private let form: ItemForm
    private let terminal: Terminal
    private static let bytesMax = 1 << 20

    init(_ record: ItemRecord, _ terminal: Terminal) throws {
        form = try ItemForm(record)
        self.terminal = terminal
    }

    /// Runs the editor and returns the changes, or nil if there are none. If a line is invalid, offers to edit again; throws if the user
    /// declines.
    func run() throws -> ItemAttributes? {
        let editor = try Self.editor()
        let folder = try EditorFolder()
        defer { folder.remove() }
        let original = form.text
        try folder.write(original)
        while true {
            let code = try ChildCommand.run(["/bin/sh", "-c", "exec \(editor) \"$1\"", "sh", folder.file])
            guard code == 0 else { throw Refusal(.cancelled, "the editor exited with \(code); nothing was changed") }
            guard let edited = SmallFile.text(path: folder.file, max: Self.bytesMax) else {
                throw Refusal(.badParameter, "The edited file is not text, or larger than 1 MiB; nothing was changed")
            }
            if edited == original { return nil }
            do throws(ParsingError) {
                let changes = try form.changes(in: edited)
                return changes.isEmpty ? nil : changes
            } catch {
                say("vauban: \(error.sentence)")
                guard terminal.readWord("Press Return to edit it again (anything else cancels): ") == "" else {
                    throw Refusal(.cancelled, "nothing was changed")
                }
            }
        }
    }

    private static func editor() throws(Refusal) -> String {
        for name in ["VISUAL", "EDITOR"] {
            if let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty { return value }
        }
        throw Refusal(.badParameter, "No editor; set $VISUAL or $EDITOR, or use options (vauban help edit)")
    }
}

/// A folder in memory for one file.
private final class EditorFolder {
    let file: String
    private let path: String
    private var duty: Int?
    /// The file system types tmpfs and ramfs in `linux/magic.h`.
    private static let memoryFileSystems: Set<UInt32> = [0x0102_1994, 0x8584_58F6]

    init() throws {
        let runtime = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
        let places = [runtime, "/dev/shm"].compactMap(\.self).filter { $0.hasPrefix("/") && Self.isInMemory($0) }
        guard let place = places.first(where: { access($0, W_OK | X_OK) == 0 }) else {
            throw Refusal(
                .unavailable,
                "No folder in memory for the editor's file; use options instead: vauban help edit"
            )
        }
        var template = Array("\(place)/vauban-edit-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("make a folder in \(SafeText.visible(place))", code: errno) }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.path = path
        file = "\(path)/item"
        duty = Interruption.add { try? FileManager.default.removeItem(atPath: path) }
    }

    func write(_ text: String) throws {
        let number = try SystemError.check(open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600), "make \(file)")
        let descriptor = Descriptor(number)
        guard writeText(text, to: descriptor.number) else { throw SystemError("write \(file)", code: errno) }
    }

    /// Removes the folder with every file that the editor left in it.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
        duty.map(Interruption.remove)
    }

    private static func isInMemory(_ path: String) -> Bool {
        var kind: UInt32 = 0
        var isWithoutSetuid = false
        guard let place = try? Descriptor.place(path), vauban_file_system(place.number, &kind, &isWithoutSetuid) == 0 else { return false }
        return memoryFileSystems.contains(kind)
    }
}
