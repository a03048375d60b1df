import Foundation
import Glibc
import VaubanLinuxHost

/// The rooms for tests through Apple's API: `Security` finds them through `VAUBAN_HOME`, which is set once for this process, so all such
/// suites share them and run one after the other.
enum SharedRooms {
    static let rooms: Rooms? = {
        guard let rooms = try? Rooms(), (try? rooms.setPasscode()) != nil else { return nil }
        setenv("VAUBAN_HOME", rooms.home, 1)
        // Static values have no deinitializer.
        atexit { _ = try? LauncherControl.stop(home: SharedRooms.home) }
        return rooms
    }()

    private static var home: String { String(cString: getenv("VAUBAN_HOME")) }

    struct Missing: Error {}

    static func use() throws -> Rooms {
        guard let rooms else { throw Missing() }
        return rooms
    }
}
