// Files of a backup: each is written under a temporary name in the same folder, synchronized, and renamed.

import CVaubanLinux
import Foundation
import Glibc
import VaubanLinuxHost
import VaubanPlainText
import VaubanRefusal
import VaubanSecretBytes

/// A new file that gets its name only when it is complete.
final class NewFile {
    let path: String
    private let partial: String
    private let file: Descriptor
    /// Whether the file system counts names, so that it tells when another command has removed the temporary one.
    private let countsNames: Bool
    private var duty: Int?

    /// - Parameter isShared: Whether other devices may write the same name, so that the temporary one must differ.
    init(path: String, isShared: Bool = false) throws(Refusal) {
        self.path = path
        let partial = isShared ? "\(path).\(String(UInt64.random(in: 0...UInt64.max), radix: 16)).partial" : path + ".partial"
        self.partial = partial
        // Never write to a file that a killed command left here, or that another program put here.
        unlink(partial)
        let number = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw Self.refusal("create \(SafeText.visible(path))", errno) }
        file = Descriptor(number)
        var status = stat()
        countsNames = fstat(number, &status) == 0 && status.st_nlink > 0
        duty = Interruption.add { unlink(partial) }
    }

    func write(_ bytes: [UInt8]) throws(Refusal) {
        guard bytes.withUnsafeBytes({ writeAll($0, to: file.number) }) else {
            throw Self.refusal("write \(SafeText.visible(path))", errno)
        }
    }

    func write(_ secret: borrowing SecretBytes) throws(Refusal) {
        guard secret.withUnsafeBytes({ writeAll($0, to: file.number) }) else {
            throw Self.refusal("write \(SafeText.visible(path))", errno)
        }
    }

    /// Gives the file the owner, the group and the extended attributes of another, such as access lists, as far as this process may.
    func takeOwnership(of other: Descriptor) throws(Refusal) {
        let problem = vauban_copy_ownership(other.number, file.number)
        guard problem == 0 else { throw Self.refusal("write \(SafeText.visible(path))", -problem) }
    }

    /// Synchronizes the written bytes to the disk, so that the file can be verified before it gets its name.
    func sync() throws(Refusal) {
        guard fsync(file.number) == 0 else { throw Self.refusal("write \(SafeText.visible(path))", errno) }
    }

    /// The temporary path of the file, for the verification.
    var unnamed: String { partial }

    /// Gives the file its name, and its permissions, by default for the user alone. Unless it may replace one, an existing file stays
    /// and this throws.
    func name(replacing: Bool, mode: mode_t? = nil) throws(Refusal) {
        if let mode, fchmod(file.number, mode) != 0 { throw Self.refusal("write \(SafeText.visible(path))", errno) }
        guard replacing else {
            guard try nameUnlessTaken() else { throw Self.exists(path) }
            return
        }
        try checkIsHere()
        guard rename(partial, path) == 0 else { throw Self.refusal("write \(SafeText.visible(path))", errno) }
        try finish()
    }

    /// Gives the file its name. Returns false if another file already has that name.
    func nameUnlessTaken() throws(Refusal) -> Bool {
        try checkIsHere()
        if link(partial, path) == 0 {
            // It may have been removed since, and the name be that of another command's file.
            try checkIsHere()
            unlink(partial)
        } else {
            if errno == EEXIST { return false }
            guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { throw Self.refusal("write \(SafeText.visible(path))", errno) }
            // The file systems of USB sticks and of some shares have no hard links.
            let problem = vauban_rename_new(partial, path)
            if problem == -EEXIST { return false }
            if [-EINVAL, -ENOSYS].contains(problem) {
                // Nor can this one rename without replacing; two simultaneous writers cannot be distinguished there.
                if access(path, F_OK) == 0 { return false }
                guard rename(partial, path) == 0 else { throw Self.refusal("write \(SafeText.visible(path))", errno) }
            } else if problem != 0 {
                throw Self.refusal("write \(SafeText.visible(path))", -problem)
            }
        }
        try finish()
        return true
    }

    /// Throws if another command has removed the temporary file, because it writes a file of the same name.
    private func checkIsHere() throws(Refusal) {
        var status = stat()
        guard countsNames, fstat(file.number, &status) == 0, status.st_nlink == 0 else { return }
        // The temporary name is the other command's now.
        duty.map(Interruption.remove)
        duty = nil
        throw Refusal(.unavailable, "Another command is writing \(SafeText.visible(path)); wait for its end, then try again")
    }

    private func finish() throws(Refusal) {
        try BackupFiles.syncFolder(of: path)
        duty.map(Interruption.remove)
        duty = nil
    }

    deinit {
        if let duty {
            unlink(partial)
            Interruption.remove(duty)
        }
    }

    static func exists(_ path: String) -> Refusal {
        Refusal(.badParameter, "\(SafeText.visible(path)) already exists; choose another file, or back up to a folder")
    }

    static func refusal(_ action: String, _ code: Int32) -> Refusal {
        let fault = SystemError(action, code: code)
        if fault.isFullDisk { return Refusal(.storageFull) }
        // If the medium failed, and not the name, a later attempt may succeed.
        let isOfMedium = [EIO, ENXIO, ENODEV, ESTALE].contains(code)
        return Refusal(isOfMedium ? .unavailable : .badParameter, fault.sentence)
    }
}

enum BackupFiles {
    /// Returns whether a name in a folder is that of a hidden file or folder, such as the markers of Syncthing and git, or of the folder
    /// that a file system has at its root. Vauban neither writes, reads nor removes files with such names.
    static func isMarker(_ name: String) -> Bool { name.hasBytePrefix(".") || name == "lost+found" }

    /// Writes a whole file and replaces an existing one.
    static func replace(_ path: String, with bytes: [UInt8], isShared: Bool = false) throws(Refusal) {
        let output = try NewFile(path: path, isShared: isShared)
        try output.write(bytes)
        try output.sync()
        try output.name(replacing: true)
    }

    /// Writes a whole file that other devices may write too. Returns false if it exists; the existing file stays.
    static func add(_ path: String, _ bytes: [UInt8]) throws(Refusal) -> Bool {
        let output = try NewFile(path: path, isShared: true)
        try output.write(bytes)
        try output.sync()
        return try output.nameUnlessTaken()
    }

    /// Gives a whole file a second name, or copies it where the file system has no hard links.
    static func keep(_ path: String, as other: String) throws(Refusal) {
        unlink(other)
        if link(path, other) == 0 { return }
        if let bytes = try read(path, max: BackupFormat.manifestBytesMax) { try replace(other, with: bytes) }
    }

    /// Returns the bytes of a file, or nil if it does not exist.
    /// - Parameter fromMedium: Whether to bypass the kernel's page cache, as far as the kernel allows.
    static func read(_ path: String, max: Int, fromMedium: Bool = false) throws(Refusal) -> [UInt8]? {
        // Another writer of the folder may have put a pipe here, and opening that would block.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else {
            if errno == ENOENT { return nil }
            throw NewFile.refusal("open \(SafeText.visible(path))", errno)
        }
        let file = Descriptor(number)
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) is not a file")
        }
        if fromMedium { posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED) }
        guard status.st_size <= max else { throw Refusal(.badParameter, "\(SafeText.visible(path)) is too large") }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        guard readWhole(file.number, &bytes) else { throw Refusal(.badParameter, "\(SafeText.visible(path)) cannot be read") }
        return bytes
    }

    /// Fills the buffer, and returns false at the end of the file.
    static func readWhole(_ file: Int32, _ bytes: inout [UInt8]) -> Bool {
        var count = 0
        while count < bytes.count {
            let start = count
            let got = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress?.advanced(by: start), $0.count - start) }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return false }
            count += got
        }
        return true
    }

    static func syncFolder(of path: String) throws(Refusal) {
        // Foundation's functions on the parts of a path end the process at a path of one character.
        let number = open(PathBytes.split(path).folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw NewFile.refusal("sync \(SafeText.visible(path))", errno) }
        let folder = Descriptor(number)
        // Some file systems, such as the shared folders of virtual machines, cannot synchronize a folder.
        guard fsync(folder.number) == 0 || errno == EINVAL else { throw NewFile.refusal("sync \(SafeText.visible(path))", errno) }
    }

    /// Synchronizes the folder that contains a new folder, unless this user may not read it.
    static func syncName(ofFolder path: String) throws(Refusal) {
        let number = open(path + "/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return }
        let parent = Descriptor(number)
        guard fsync(parent.number) == 0 || [EINVAL, EROFS].contains(errno) else {
            throw NewFile.refusal("sync \(SafeText.visible(path))", errno)
        }
    }

    /// Returns the folder of the backup that a file is a part of, by the names of both; nil if it is none.
    static func folder(ofPart path: String) -> String? {
        let part = PathBytes.split(path)
        let above = PathBytes.split(part.folder)
        let folder: String
        if above.name.isSameBytes(as: "segments") {
            folder = above.folder
        } else if ["keybag", "manifest", "manifest.previous", "memory"].containsBytes(of: part.name) {
            folder = part.folder
        } else {
            return nil
        }
        return !isFolder(path) && isFolder(folder + "/segments") ? folder : nil
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
