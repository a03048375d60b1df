import EnclaveWire
import Keychain
import KeychainStore
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

/// Rows of the first format, which a released version wrote, and of the present one.
@Suite struct FormatTests {
    private func room() throws -> Room {
        let stored = try StoredDatabase("format-1")
        return try Room(database: stored.file, keys: stored.keys, sealed: stored.sealed)
    }

    private func account(_ name: String) -> [AttributeName: AttributeValue] { [.account: .text(name)] }

    private func formats(_ row: StoredRow) throws -> [Int64] {
        try [row.halves.secretBinding, row.halves.metadataBinding].map { try RowBinding(derBytes: $0).format.rawValue }
    }

    /// The values that the creator of the fixture stored.
    private static let values: [String: String?] = [
        "older": "of an older key", "plain": "plain value", "relabelled": "kept value", "device": "device value",
        "present": "guarded value", "nothing": nil,
    ]

    @Test("Rows of the first format open") func rowsOfTheFirstFormatOpen() throws {
        let room = try room()
        let rows = try room.rows()
        #expect(rows.count == 6)
        for row in rows { #expect(try formats(row) == [1, 1]) }
        for (name, value) in Self.values { #expect(try room.find(account(name)).first?.value == value) }
        #expect(try room.find([.account: .text("relabelled")]).first?.record?.attributes[.label] == .text("a label"))
        #expect(try room.find([.server: .text("example.org")], kind: .internetPassword).first?.value == "internet value")
        #expect(try room.database.quarantinedCount() == 0)
    }

    @Test("Writes use the second format") func writesUseTheSecondFormat() throws {
        let room = try room()
        try room.update(account("plain"), value: "new value")
        try room.update(account("relabelled"), to: [.label: .text("another")])
        try room.update(account("present"), to: [.label: .text("guarded")])
        try room.add(account("new"), value: "v")
        let numbers: [String: Int64] = ["plain": 2, "relabelled": 3, "present": 5, "new": try #require(try room.rows().last?.id)]
        for name in ["plain", "relabelled", "present", "new"] {
            let item = try #require(try room.find(account(name)).first)
            let row = try #require(try room.rows().first { $0.id == numbers[name] })
            #expect(try formats(row) == [2, 2])
            #expect(item.value == ["plain": "new value", "relabelled": "kept value", "present": "guarded value", "new": "v"][name])
        }
    }

    @Test("The formats never mix in a row") func formatsNeverMixInARow() throws {
        let room = try room()
        let before = try #require(try room.rows().first { $0.id == 2 })
        try room.update(account("plain"), to: [.label: .text("l")])
        let after = try #require(try room.rows().first { $0.id == before.id })
        try room.tamper(
            after,
            with: RowHalves(
                secretBinding: before.halves.secretBinding, wrappedKey: before.halves.wrappedKey, secret: before.halves.secret,
                metadataBinding: after.halves.metadataBinding, metadata: after.halves.metadata))
        #expect(Refusal.Reason.of { _ = try room.find(account("plain")) } == .itemNotFound)
        #expect(try room.database.quarantinedCount() == 1)
    }

    /// Plain rows are opened and resealed; the one that requires the user stays until they are prompted.
    @Test("Rewrapping moves plain rows to the second format, without a prompt")
    func rewrappingMovesPlainRowsToSecondFormatWithoutPrompt() throws {
        let room = try room()
        try room.enclave.renew(.metadata(.whenUnlocked))
        try room.enclave.renew(.metadata(.afterFirstUnlock))
        // Four rows of `ak`, and one of `ck` that requires the user.
        let progress = try room.rewrap()
        #expect(progress.done == 4 && progress.left == 0 && progress.kept == 1)
        #expect(room.enclave.state.withLock { $0.promptCount } == 0)
        let rows = try room.rows()
        #expect(Set(try rows.filter { $0.protection == 6 }.map(formats)) == [[2, 2]])
        #expect(try rows.filter { $0.protection == 7 }.map(formats) == [[1, 1]])
        // The older keys of `ak` were retired, that of `ck` was not.
        let held = room.enclave.state.withLock { state in state.keys.map(\.name) }
        #expect(held.filter { $0.purpose == .metadata(.whenUnlocked) }.count == 1)
        #expect(held.filter { $0.purpose == .metadata(.afterFirstUnlock) }.count == 2)
        for (name, value) in Self.values { #expect(try room.find(account(name)).first?.value == value) }
        // Changing the item requires the user, and moves it too.
        try room.update(account("present"), to: [.label: .text("l")])
        #expect(try room.rewrap().kept == 0)
        #expect(
            room.enclave.state.withLock { state in state.keys.map(\.name) }.filter { $0.purpose == .metadata(.afterFirstUnlock) }.count == 1
        )
    }
}
