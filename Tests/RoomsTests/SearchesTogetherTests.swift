import Foundation
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// Searches that are sent together are answered one after the other, each on its own.
@Suite struct SearchesTogetherTests {
    private static func query(_ account: String) -> ItemQuery {
        var query = Rooms.query("s", account)
        query.returns.insert(.data)
        return query
    }

    /// Returns what each search finds: the value, or the reason of the refusal.
    private func found(
        _ rooms: Rooms, _ accounts: [String], waiting: KeychainClient.Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws -> [String] {
        var found: [String] = []
        try rooms.keychain.copyMatching(each: accounts.map(Self.query), waiting: waiting, cancellation: cancellation) { outcome in
            switch outcome {
            case .success(let entries):
                found.append(entries.map(text(of:)).joined(separator: "+"))
            case .failure(let refusal): found.append("\(refusal.reason)")
            }
        }
        return found
    }

    private func text(of entry: ReceivedItem) -> String {
        guard let value = entry.takeSecret() else { return "" }
        return String(decoding: value.disclosed(), as: UTF8.self)
    }

    private func rooms() throws -> Rooms {
        let rooms = try Rooms()
        try rooms.setPasscode()
        for number in 1...4 { try rooms.add("s", "open \(number)", "value \(number)", number == 4 ? .afterFirstUnlock : .whenUnlocked) }
        for name in ["guarded 1", "guarded 2"] {
            try rooms.add("s", name, "of \(name)", control: try AccessControl(protection: .whenUnlocked, flags: .userPresence))
        }
        return rooms
    }

    @Test("Several searches in one request return found, missing, refused and approved items in order")
    func outcomesKeepTheirPlaces() throws {
        let rooms = try rooms()
        let user = try rooms.user([.cancel, .passcode(Rooms.passcode)])
        defer { user.leave() }
        var prompts = 0
        let accounts = ["open 1", "guarded 1", "nobody", "open 2", "guarded 2", "open 1", "open 3"]
        let outcomes = try found(rooms, accounts, waiting: { _ in prompts += 1 })
        #expect(outcomes == ["value 1", "cancelled", "itemNotFound", "value 2", "of guarded 2", "value 1", "value 3"])
        #expect(prompts == 2)
        // The connection can be used afterwards.
        #expect(try rooms.read("s", "open 2") == "value 2")
    }

    @Test("Several searches in one request find only items that stay open while the keychain is locked")
    func lockedItemsKeepTheirPlaces() throws {
        let rooms = try rooms()
        try rooms.authentication.lock()
        #expect(try found(rooms, ["open 1", "open 4", "open 2", "open 4"]) == ["locked", "value 4", "locked", "value 4"])
    }

    @Test("Several searches in one request return one outcome each, and no search returns none")
    func countIsKept() throws {
        let rooms = try rooms()
        #expect(try found(rooms, []).isEmpty)
        let accounts = (0..<100).map { "open \($0 % 4 + 1)" }
        #expect(try found(rooms, accounts) == (0..<100).map { "value \($0 % 4 + 1)" })
    }

    @Test("A cancellation during a prompt ends the remaining searches")
    func cancellationEndsTheRest() throws {
        let rooms = try rooms()
        let user = try rooms.user([.silence])
        defer { user.leave() }
        let running = CallCancellation()
        #expect(
            refusal {
                _ = try found(rooms, ["open 1", "guarded 1", "open 2"], waiting: { _ in running.cancel() }, cancellation: running)
            } != nil)
        #expect(try found(rooms, ["open 2"]) == ["value 2"])
    }
}
