import Foundation
import Keychain
import KeychainStore
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal

@Suite struct DatabaseFileTests {
    private let name: [AttributeName: AttributeValue] = [.account: .text("a"), .service: .text("s")]

    private func files(_ room: Room) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: room.userFolder).sorted() }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("The database's files are accessible to their owner alone") func filesAreAccessibleToTheOwnerOnly() throws {
        let room = try Room()
        try room.add(name)
        #expect(try mode(room.userFolder) == 0o700)
        for file in try files(room) { #expect(try mode("\(room.userFolder)/\(file)") == 0o600) }
        #expect(try files(room).contains("keychain.db"))
    }

    @Test("Items survive a restart") func itemsSurviveARestart() throws {
        let room = try Room()
        try room.add(name, value: "v")
        try room.restart()
        #expect(try room.find(name).first?.value == "v")
    }

    @Test(
        "An unreadable file is set aside and never replaced by an empty one",
        arguments: ["", "this is no database, however long it is made: " + String(repeating: "x", count: 8192)])
    func unreadableFileIsSetAsideAndNeverReplaced(_ content: String) throws {
        let room = try Room()
        try room.serve(.add(ItemRecord(kind: .genericPassword, attributes: ItemAttributes(name)), returns: [], hasData: false))
        try room.restart()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: room.file + suffix) }
        try Data(content.utf8).write(to: URL(fileURLWithPath: room.file))
        for _ in 0..<3 {
            #expect(Refusal.Reason.of { _ = try room.find(name) } == .stateUnreadable)
            #expect(Refusal.Reason.of { try room.add(name) } == .stateUnreadable)
            try room.restart()
        }
        let now = try files(room)
        #expect(now.contains("keychain.db.quarantined-1") && now.contains("keychain.db.damaged") && !now.contains("keychain.db"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: room.file + ".quarantined-1")) == Data(content.utf8))
        // The user accepts the loss.
        try FileManager.default.removeItem(atPath: room.file + ".damaged")
        try room.add(name, value: "new")
        #expect(try room.find(name).first?.value == "new")
    }

    @Test("An intact file that is put back is used") func restoringAnIntactFileWorks() throws {
        let room = try Room()
        try room.add(name, value: "v")
        try room.restart()
        let copy = try Data(contentsOf: URL(fileURLWithPath: room.file))
        let log = try? Data(contentsOf: URL(fileURLWithPath: room.file + "-wal"))
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: room.file + suffix) }
        try Data(repeating: 7, count: 10_000).write(to: URL(fileURLWithPath: room.file))
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .stateUnreadable)
        try copy.write(to: URL(fileURLWithPath: room.file))
        try log?.write(to: URL(fileURLWithPath: room.file + "-wal"))
        try FileManager.default.removeItem(atPath: room.file + ".damaged")
        #expect(try room.find(name).first?.value == "v")
    }

    /// The marker is written first. Everything that changed later is the user's.
    @Test(
        "A kill while the file is set aside leaves no log beside the copy that takes its place",
        arguments: [["-wal"], ["", "-wal", "-shm"]])
    func interruptedMoveIsFinished(_ left: [String]) throws {
        let room = try Room()
        try room.add(name, value: "v")
        // The last connection moves the log into the file.
        try room.database.close()
        let copy = try Data(contentsOf: URL(fileURLWithPath: room.file))
        try room.restart()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: room.file + suffix) }
        try Data(repeating: 7, count: 10_000).write(to: URL(fileURLWithPath: room.file))
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .stateUnreadable)
        let aside = room.file + ".quarantined-1"
        if left.contains("") { try FileManager.default.removeItem(atPath: aside) }
        for suffix in left { try Data([1, 2, 3]).write(to: URL(fileURLWithPath: room.file + suffix)) }
        let marker = URL(fileURLWithPath: room.file + ".damaged")
        try Data(contentsOf: marker).write(to: marker)
        try room.restart()
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .stateUnreadable)
        for suffix in left { #expect(try Data(contentsOf: URL(fileURLWithPath: aside + suffix)) == Data([1, 2, 3])) }
        #expect(try files(room).filter { $0.hasPrefix("keychain.db") && !$0.contains("quarantined") } == ["keychain.db.damaged"])
        try copy.write(to: URL(fileURLWithPath: room.file))
        try FileManager.default.removeItem(at: marker)
        #expect(try room.find(name).first?.value == "v")
    }

    @Test("Damaged pages set the file aside") func damagedPagesSetTheFileAside() throws {
        let room = try Room()
        for number in 0..<60 { try room.add([.account: .text("a\(number)")], value: String(repeating: "x", count: 500)) }
        try room.restart()
        var pages = try Data(contentsOf: URL(fileURLWithPath: room.file))
        try #require(pages.count > 20 * 4096)
        for page in 5..<pages.count / 4096 { pages.replaceSubrange(page * 4096..<page * 4096 + 100, with: repeatElement(0xEE, count: 100)) }
        try pages.write(to: URL(fileURLWithPath: room.file))
        let first = Refusal.Reason.of { _ = try room.find([:], limit: .all) }
        #expect(first == .storageFailed || first == .stateUnreadable)
        #expect(Refusal.Reason.of { _ = try room.find([:], limit: .all) } == .stateUnreadable)
        #expect(Refusal.Reason.of { try room.add(name) } == .stateUnreadable)
        #expect(try files(room).contains("keychain.db.quarantined-1"))
    }

    @Test("A full disk refuses an add and keeps existing items") func fullDiskRefusesAddAndKeepsExistingItems() throws {
        let room = try Room(pagesMax: 40)
        try room.add(name, value: "v")
        var reason: Refusal.Reason?
        for number in 0..<200 where reason == nil {
            reason = Refusal.Reason.of { try room.add([.account: .text("x\(number)")], value: String(repeating: "x", count: 4000)) }
        }
        #expect(reason == .storageFull)
        #expect(try room.find(name).first?.value == "v")
        let before = try room.rows().count
        #expect(Refusal.Reason.of { try room.update(name, value: String(repeating: "y", count: 500_000)) } == .storageFull)
        #expect(try room.find(name).first?.value == "v")
        #expect(try room.rows().count == before)
        try room.delete(name)
    }

    @Test("Users have separate databases") func usersHaveSeparateDatabases() throws {
        let room = try Room()
        try room.add(name)
        let other = try room.databases.database(of: Room.user + 1)
        let all = RowSelection(kind: 1, protection: nil, lookup: nil, filter: [], usesDeviceIndex: false)
        #expect(try other.rows(of: all, after: 0, count: 10, bytesMax: 1 << 20).isEmpty)
    }

    @Test("A folder that others can access is refused") func folderAccessibleToOthersIsRefused() throws {
        let room = try Room()
        try room.add(name)
        try room.restart()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: room.userFolder)
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .storageFailed)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: room.userFolder)
        #expect(try room.find(name).count == 1)
    }

    // MARK: The content of the disk

    @Test("The disk shows no plaintext") func diskShowsNoPlaintext() throws {
        let room = try Room()
        let words = ["korrekt-pferd-batterie", "anna.mustermann", "versicherung.example", "Meine Versicherung", "geheimnis"]
        try room.add(
            [
                .account: .text(words[1]), .server: .text(words[2]), .label: .text(words[3]), .comment: .text(words[4]),
                .path: .text("/\(words[2])"),
            ],
            value: words[0], kind: .internetPassword)
        try room.add(
            [.account: .text(words[1]), .service: .text(words[2]), .generic: .data(Array(words[4].utf8))], value: words[0], .always)
        try room.update([.account: .text(words[1])], to: [.label: .text(words[3])], value: words[0] + words[4])
        try room.delete([.account: .text(words[1])], kind: .internetPassword)
        var disk = Data()
        for file in try files(room) { disk.append(try Data(contentsOf: URL(fileURLWithPath: "\(room.userFolder)/\(file)"))) }
        #expect(disk.count > 10_000)
        for word in words {
            #expect(disk.range(of: Data(word.utf8)) == nil)
            #expect(disk.range(of: try #require(word.data(using: .utf16LittleEndian))) == nil)
            #expect(disk.range(of: Data(Data(word.utf8).base64EncodedString().utf8.dropLast(4))) == nil)
        }
    }

    @Test("Equal values differ on disk, and sizes are rounded") func equalItemsDifferOnDiskAndSizesAreRounded() throws {
        let room = try Room()
        try room.add([.account: .text("a"), .service: .text("s")], value: "123")
        try room.add([.account: .text("a"), .service: .text("t")], value: "12345678901234")
        let rows = try room.rows()
        #expect(rows[0].halves.secret.count == rows[1].halves.secret.count)
        #expect(rows[0].halves.secret != rows[1].halves.secret)
        #expect(rows[0].halves.metadata.count == rows[1].halves.metadata.count)
        #expect(rows[0].blinds.primary != rows[1].blinds.primary)
        #expect(rows.allSatisfy { $0.item.count == 16 && $0.blinds.primary.count == 16 })
    }
}
