import Foundation
import KeychainStore
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel

/// A database that is checked while requests still hold it.
@Suite struct RegistryTests {
    private let name: [AttributeName: AttributeValue] = [.account: .text("a"), .service: .text("s")]

    /// Whoever still holds a database in which damage was met can write nothing to it that would then be put aside.
    @Test func nothingIsAcknowledgedIntoAFileThatIsToBeChecked() throws {
        let room = try Room()
        for number in 0..<60 { try room.add([.account: .text("a\(number)")], value: String(repeating: "x", count: 500)) }
        let row = try #require(try room.rows().first)
        try room.restart()
        var pages = try Data(contentsOf: URL(fileURLWithPath: room.file))
        try #require(pages.count > 20 * 4096)
        for page in 5..<pages.count / 4096 { pages.replaceSubrange(page * 4096..<page * 4096 + 100, with: repeatElement(0xEE, count: 100)) }
        try pages.write(to: URL(fileURLWithPath: room.file))
        let held = try room.database
        let all = RowSelection(kind: 1, protection: nil, lookup: nil, filter: [], usesDeviceIndex: false)
        #expect(throws: StorageFault.self) { try held.rows(of: all, after: 0, count: .max, bytesMax: .max) }
        #expect(held.isSuspect)
        #expect(throws: StorageFault.failed("the keychain database is to be checked")) { try held.delete([row.handle]) }
        #expect(throws: StorageFault.failed("the keychain database is to be checked")) { _ = try held.insert(row) }
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .stateUnreadable)
        // It was closed for everyone before it was put aside.
        #expect(throws: StorageFault.self) { try held.indexKeyGenerations() }
        #expect(throws: StorageFault.self) { _ = try held.insert(row) }
    }
}
