import Foundation
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost

/// Cancelling one call does not cancel a later call on its connection.
@Suite struct CancellationTests {
    private func read(
        in rooms: Rooms, _ account: String, cancellation: CallCancellation?, waiting: ((String) -> Void)? = nil
    ) throws -> Int {
        var query = Rooms.query("s", account)
        query.returns.insert(.data)
        return try rooms.keychain.copyMatching(query, waiting: waiting, cancellation: cancellation).count
    }

    @Test("A cancellation after the end of its call does nothing") func cancellationAfterTheEndDoesNothing() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("s", "open", "value")
        try rooms.add("s", "guarded", "value", control: try AccessControl(protection: .whenUnlocked, flags: .userPresence))
        let user = try rooms.user([.passcode(Rooms.passcode), .silence])
        defer { user.leave() }
        let over = CallCancellation()
        #expect(try read(in: rooms, "open", cancellation: over) == 1)
        // The next call has the connection of the previous one, and is prompting when that is cancelled.
        #expect(try read(in: rooms, "guarded", cancellation: nil, waiting: { _ in over.cancel() }) == 1)
        #expect(over.isCancelled)
        // Its own cancellation still ends it, and the next call has a working connection.
        let running = CallCancellation()
        #expect(refusal { _ = try read(in: rooms, "guarded", cancellation: running, waiting: { _ in running.cancel() }) } != nil)
        #expect(try read(in: rooms, "open", cancellation: nil) == 1)
        // A call cancelled before it begins does not begin.
        #expect(refusal { _ = try read(in: rooms, "open", cancellation: running) } != nil)
        #expect(try read(in: rooms, "open", cancellation: nil) == 1)
    }
}
