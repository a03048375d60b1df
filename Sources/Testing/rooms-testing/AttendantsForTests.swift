import FingerprintReader
import Watcher

/// The watcher and the reader on a private bus, with the login manager or fprintd of a user that the test chooses:
/// `--bus ADDRESS --bus-owner-uid N`.
enum AttendantsForTests {
    static func watcher(_ arguments: RoomArguments) -> Never {
        var arguments = arguments
        let bus = takeBus(from: &arguments)
        WatcherProgram.main(arguments.words) { WatcherSettings(bus: bus.address, managerUID: bus.owner, onlyUser: $0) }
    }

    static func reader(_ arguments: RoomArguments) -> Never {
        var arguments = arguments
        let bus = takeBus(from: &arguments)
        ReaderProgram.main(arguments.words, ReaderSettings(bus: bus.address, daemonUID: bus.owner))
    }

    private static func takeBus(from arguments: inout RoomArguments) -> (address: String, owner: UInt32) {
        guard let address = arguments.take("--bus"), let owner = arguments.take("--bus-owner-uid").flatMap({ UInt32($0) }) else {
            fail("an attendant needs --bus ADDRESS --bus-owner-uid N")
        }
        return (address, owner)
    }
}
