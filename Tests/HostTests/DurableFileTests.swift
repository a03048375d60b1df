import CVaubanLinux
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost
import VaubanSecretBytes

/// Small files, folders and sockets on a real file system.
@Suite final class DurableFileTests {
    private let path: String
    private let folder: PrivateFolder
    private let file: DurableFile
    private var mounted: [String] = []

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-host-\(UUID().uuidString)").path
        folder = try PrivateFolder(path: path, creating: true)
        file = DurableFile("state", in: folder)
    }

    deinit {
        for place in mounted { umount2(place, 2) }
        try? FileManager.default.removeItem(atPath: path)
    }

    private func content(_ file: DurableFile, max: Int = 1 << 20) throws -> [UInt8]? {
        if case .bytes(let bytes) = try file.read(max: max) { return bytes }
        return nil
    }

    private func mode(_ path: String) -> mode_t {
        var information = stat()
        return lstat(path, &information) == 0 ? information.st_mode & 0o7777 : 0
    }

    @Test("A file is replaced as a whole") func fileIsReplacedAsAWhole() throws {
        #expect(try content(file) == nil)
        for bytes in [[1, 2, 3], [], [UInt8](repeating: 7, count: 100_000)] as [[UInt8]] {
            try file.replace(with: bytes)
            #expect(try content(file) == bytes)
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["state"])
        }
        #expect(mode(path + "/state") == 0o600)
    }

    @Test("A failed write leaves the old content") func failedWriteLeavesOldContent() throws {
        try file.replace(with: [1])
        // A folder in place of the file that would be written first.
        try FileManager.default.createDirectory(atPath: path + "/state.new", withIntermediateDirectories: false)
        #expect(throws: SystemError.self) { try file.replace(with: [2]) }
        #expect(try content(file) == [1])
        try FileManager.default.removeItem(atPath: path + "/state.new")
        // A link in that place is removed, not followed.
        try Data([9]).write(to: URL(fileURLWithPath: path + "/victim"))
        try FileManager.default.createSymbolicLink(atPath: path + "/state.new", withDestinationPath: path + "/victim")
        try file.replace(with: [2])
        #expect(try content(file) == [2])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/victim")) == Data([9]))
    }

    @Test("An interrupted write is discarded") func interruptedWriteIsDiscarded() throws {
        try file.replace(with: [1])
        try Data(repeating: 8, count: 5000).write(to: URL(fileURLWithPath: path + "/state.new"))
        #expect(try content(file) == [1])
        try file.replace(with: [2])
        #expect(try content(file) == [2])
        #expect(!FileManager.default.fileExists(atPath: path + "/state.new"))
    }

    /// Needs root and a kernel that lets it mount; elsewhere Tests/Scripts/full-disk.sh covers this.
    @Test("A full disk leaves the old content") func fullDiskLeavesOldContent() throws {
        let place = path + "/small"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        guard mount("tmpfs", place, "tmpfs", 0, "size=64k,mode=700") == 0 else {
            try Test.cancel("a small file system cannot be mounted here")
        }
        mounted.append(place)
        let small = DurableFile("state", in: try PrivateFolder(path: place, creating: false))
        let old = [UInt8](repeating: 1, count: 20_000)
        try small.replace(with: old)
        let fault = #expect(throws: SystemError.self) { try small.replace(with: [UInt8](repeating: 2, count: 60_000)) }
        #expect(fault?.code == ENOSPC)
        #expect(try content(small) == old)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["state"])
        try small.replace(with: [3])
        #expect(try content(small) == [3])
    }

    /// A power cut during a rename leaves one file under both names on some file systems.
    @Test("A second name of the file is not truncated") func secondNameOfTheFileIsNotTruncated() throws {
        try file.replace(with: [1])
        #expect(link(path + "/state", path + "/state.new") == 0)
        let witness = try #require(try folder.file("state"))
        try file.replace(with: [2])
        var byte: UInt8 = 0
        #expect(try withUnsafeMutableBytes(of: &byte) { try witness.read(into: $0, at: 0) } == 1)
        #expect(byte == 1)
        #expect(try content(file) == [2])
    }

    /// Needs root and a kernel that lets it mount.
    @Test("A file on a read-only disk is read and not changed") func readOnlyDiskIsReadAndNotChanged() throws {
        let place = path + "/still"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        guard mount("tmpfs", place, "tmpfs", 0, "size=64k,mode=700") == 0 else {
            try Test.cancel("a small file system cannot be mounted here")
        }
        mounted.append(place)
        let still = DurableFile("state", in: try PrivateFolder(path: place, creating: false))
        try still.replace(with: [1])
        #expect(mount("", place, "", UInt(MS_REMOUNT | MS_RDONLY), "size=64k,mode=700") == 0)
        let fault = #expect(throws: SystemError.self) { try still.replace(with: [2]) }
        #expect(fault?.code == EROFS && fault?.isUnsure == false)
        guard case .bytes([1]) = try still.read(max: 10, syncing: true) else {
            Issue.record("the content of a read-only disk is not what it was")
            return
        }
    }

    @Test("A folder lists its files as often as it is asked") func folderListsItsFilesRepeatedly() throws {
        let names = (0..<300).map { "file-\($0)" }
        for name in names { _ = try folder.create(name) }
        for _ in 1...2 { #expect(Set(try folder.names()) == Set(names)) }
        #expect(throws: SystemError.self) { try folder.create(names[0]) }
    }

    @Test("A file that is too large, linked, special or another user's is refused") func foreignOrSpecialFileIsRefused() throws {
        try file.replace(with: [UInt8](repeating: 0, count: 101))
        #expect(throws: SystemError.self) { try file.read(max: 100) }
        try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: path + "/state")
        try FileManager.default.createDirectory(atPath: path + "/folder", withIntermediateDirectories: false)
        mkfifo(path + "/foreign", 0o600)
        for name in ["link", "folder", "foreign"] {
            #expect(throws: SystemError.self) { try DurableFile(name, in: folder).read(max: 1000) }
        }
        if geteuid() == 0 {
            chown(path + "/state", 12_345, 12_345)
            #expect(throws: SystemError.self) { try file.read(max: 1000) }
        }
    }

    @Test("A file is set aside under a free name") func fileIsSetAsideUnderAFreeName() throws {
        for number in 1...3 {
            try file.replace(with: [UInt8(number)])
            #expect(try file.quarantine() == "state.quarantined-\(number)")
        }
        #expect(try content(file) == nil)
        #expect(throws: SystemError.self) { try file.quarantine() }
        #expect(try content(DurableFile("state.quarantined-2", in: folder)) == [2])
    }

    // MARK: Folders and sockets

    @Test("A folder that others can enter is refused") func aFolderThatOthersCanEnterIsRefused() throws {
        chmod(path, 0o755)
        #expect(throws: PrivateFolder.OpeningError.self) { try PrivateFolder(path: path, creating: false) }
        _ = try PrivateFolder(path: path, creating: false, sharedEntry: true)
        chmod(path, 0o777)
        #expect(throws: PrivateFolder.OpeningError.self) { try PrivateFolder(path: path, creating: false, sharedEntry: true) }
        chmod(path, 0o700)
        try FileManager.default.createSymbolicLink(atPath: path + "-link", withDestinationPath: path)
        defer { unlink(path + "-link") }
        #expect(throws: PrivateFolder.OpeningError.self) { try PrivateFolder(path: path + "-link", creating: true) }
    }

    @Test("A folder can be locked once") func folderIsLockedByOneProcess() throws {
        let lock = try #require(try folder.lock())
        #expect(try PrivateFolder(path: path, creating: false).lock() == nil)
        withExtendedLifetime(lock) {}
    }

    /// Twice as long as a socket's address can be.
    @Test("A socket in a deep folder can be reached") func socketInADeepFolderIsReachable() throws {
        let deep = path + String(repeating: "/a-rather-long-name-of-a-folder", count: 7)
        #expect(deep.utf8.count > 216)
        let listener = try PrivateFolder(path: deep, creating: true).bindSocket("socket", mode: 0o600)
        #expect(mode(deep + "/socket") == 0o600)
        let server = Background { () -> Int64 in
            let socket = Descriptor(try SystemError.checkNegated(vauban_accept(listener.number), "accept"))
            return try Handshake.accept(socket).role
        }
        let channel = try ServerAddress(folder: deep, socket: "socket", serverUID: geteuid()).connect(role: 5)
        #expect(try server.value() == 5)
        withExtendedLifetime(channel) {}
        #expect(throws: HandshakeError.self) { _ = try ServerAddress(folder: deep, socket: "none", serverUID: geteuid()).connect() }
        #expect(throws: HandshakeError.self) {
            _ = try ServerAddress(folder: deep + "/none", socket: "socket", serverUID: geteuid()).connect()
        }
    }
}

/// Public bytes whose creator the kernel names.
@Suite struct SealedMemoryTests {
    @Test("Sealed memory contains its bytes, and only its maker's counts", arguments: [0, 1, 128, 5000])
    func sealedFileContainsItsBytes(_ count: Int) throws {
        let bytes = [UInt8](repeating: 3, count: count)
        let memory = try SealedMemory.make(bytes)
        #expect(SealedMemory.bytes(of: memory, madeBy: geteuid(), max: count) == bytes)
        #expect(SealedMemory.bytes(of: memory, madeBy: geteuid() &+ 1, max: count) == nil)
        #expect(count == 0 || SealedMemory.bytes(of: memory, madeBy: geteuid(), max: count - 1) == nil)
    }

    @Test("Sealed memory cannot be changed") func sealedFileCannotBeChanged() throws {
        let memory = try SealedMemory.make([1, 2, 3])
        #expect(pwrite(memory.number, "x", 1, 0) < 0 && ftruncate(memory.number, 1) < 0 && ftruncate(memory.number, 9) < 0)
        let again = Descriptor(open("/proc/self/fd/\(memory.number)", O_RDWR | O_CLOEXEC))
        #expect(pwrite(again.number, "x", 1, 0) < 0)
        #expect(SealedMemory.bytes(of: memory, madeBy: geteuid(), max: 9) == [1, 2, 3])
    }

    @Test("A file that is not sealed is refused") func unsealedFileIsRefused() throws {
        let plain = Descriptor(open("/proc/self/exe", O_RDONLY | O_CLOEXEC))
        #expect(SealedMemory.bytes(of: plain, madeBy: geteuid(), max: .max) == nil)
        let template = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-plain-\(UUID().uuidString)").path
        let file = Descriptor(open(template, O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
        defer { unlink(template) }
        #expect(SealedMemory.bytes(of: file, madeBy: geteuid(), max: 100) == nil)
        let socket = try SocketPair().first
        #expect(SealedMemory.bytes(of: socket, madeBy: geteuid(), max: 100) == nil)
    }
}

/// Process descriptors, as the handshake relies on them.
@Suite struct ProcessDescriptorTests {
    @Test("A process descriptor names its process") func processDescriptorNamesItsProcess() throws {
        #expect(try ProcessDescriptor.pid(of: ProcessDescriptor.ofSelf()) == getpid())
        #expect(try ProcessDescriptor.pid(of: SocketPair().first) == nil)
    }

    @Test("An ended process is not alive") func endedProcessIsNotAlive() throws {
        let child = try Child("exit 7")
        let process = try ProcessDescriptor.of(child.pid)
        #expect(child.wait() == 7)
        #expect(ProcessDescriptor.pid(of: process) == nil)
        #expect(!Peer(pid: child.pid, uid: geteuid(), process: process).isAlive)
    }
}
