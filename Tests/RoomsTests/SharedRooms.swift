import Foundation
import Glibc
import Synchronization
import TestSupport
import VaubanAuthenticationClient
import VaubanLinuxHost

/// The rooms for tests through Apple's API: `Security` finds them through `VAUBAN_HOME`, which is set once for this process, so all such
/// suites share them and run one after the other.
enum SharedRooms {
    private static let rooms = Result<Rooms, any Error> {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.awaitIdentification()
        setenv("VAUBAN_HOME", rooms.home, 1)
        // Static values have no deinitializer.
        atexit { _ = try? LauncherControl.stop(home: SharedRooms.home, within: HangLimit.nanoseconds) }
        return rooms
    }

    private static var home: String { String(cString: getenv("VAUBAN_HOME")) }

    /// Whether a test has left its user behind. Then no further test waits for that user to leave.
    private static let isUserLeft = Mutex(false)

    /// Returns the rooms once the user of the previous test has left. authd notices that a moment after the end of that test: until then
    /// prompts are possible, and one that is still open there would move to the user of the next test.
    static func use() throws -> Rooms {
        let rooms = try rooms.get()
        guard !isUserLeft.withLock({ $0 }) else { return rooms }
        do {
            try awaitTrue("nobody") { try rooms.authentication.status().promptPlaces.isEmpty }
        } catch {
            isUserLeft.withLock { $0 = true }
            throw error
        }
        return rooms
    }
}
