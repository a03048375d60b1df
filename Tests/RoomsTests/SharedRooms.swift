import Foundation
import Glibc
import VaubanLinuxHost

/// The rooms for tests through Apple's API: `Security` finds them through `VAUBAN_HOME`, which is set once for this process, so all such
/// suites share them and run one after the other.
enum SharedRooms {
    private static let rooms = Result<Rooms, any Error> {
        let rooms = try Rooms()
        try rooms.setPasscode()
        setenv("VAUBAN_HOME", rooms.home, 1)
        // Static values have no deinitializer.
        atexit { _ = try? LauncherControl.stop(home: SharedRooms.home) }
        return rooms
    }

    private static var home: String { String(cString: getenv("VAUBAN_HOME")) }

    static func use() throws -> Rooms { try rooms.get() }
}
