// Rooms with a reader, and rooms whose enclave has a clock of the test's.

import Enclave
import EnclaveBook
import Foundation
import Glibc
import Synchronization
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanUserModel

extension Rooms {
    /// A reader at the enclave's door, which the enclave knows of.
    func reader() throws -> VirtualReader {
        let reader = try VirtualReader(service)
        try awaitReader(isThere: true)
        return reader
    }

    func awaitReader(isThere: Bool) throws {
        try awaitTrue("a reader") { try authentication.status().device.biometry.readerIsThere == isThere }
    }

    /// Has the reader learn a finger of this user.
    func enrol(_ reader: VirtualReader, fingers: UInt8 = 0xF1, unlocks: Bool = false, _ passcode: String = Rooms.passcode) throws {
        reader.learn(fingers)
        try authentication.enrol(secret(passcode), unlocks: unlocks)
    }

    func addGuarded(
        _ account: String, _ flags: AccessControlFlags, _ protection: Protection = .whenUnlocked, value: String = "guarded"
    ) throws {
        try add("s", account, value, protection, control: try AccessControl(protection: protection, flags: flags))
    }

    /// The keybag as it lies on the disk.
    func keybag() throws -> Keybag { try state.keybag(of: geteuid()) }
    var state: StateFolderByTheBook { get throws { try StateFolderByTheBook(enclaveFolder: "\(home)/enclave") } }

    var biometry: DeviceStatus.Biometry { get throws { try authentication.status().device.biometry } }
}

/// Rooms with a passcode and a user whose finger the reader knows.
struct RoomsWithFinger {
    let rooms: Rooms
    let reader: VirtualReader

    init(unlocks: Bool = false, hasClock: Bool = false) throws {
        rooms = try Rooms(hasClock: hasClock)
        try rooms.setPasscode()
        reader = try rooms.reader()
        try rooms.enrol(reader, unlocks: unlocks)
    }
}

/// Waits until something is so, for which nothing can be waited on but asking again; throws when it does not become so in
/// machine time.
func awaitTrue(_ what: String, _ isSo: () throws -> Bool) throws {
    let deadline = MachineClock.monotonic + ConnectionLimits.machineTime
    while true {
        if (try? isSo()) == true { return }
        if MachineClock.monotonic > deadline { throw SystemError("see \(what)", code: ETIMEDOUT) }
        sched_yield()
    }
}

/// The clocks of an enclave for tests, moved forward through the file that it reads.
final class EnclaveClockFile: Sendable {
    private let file: Descriptor
    private let offsets = Mutex<(boot: UInt64, monotonic: UInt64, wall: UInt64)>((0, 0, 0))

    init(of rooms: Rooms) throws {
        file = Descriptor(
            try SystemError.check(open(Self.path(home: rooms.home), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600), "open the enclave's clock"))
    }

    static func path(home: String) -> String { "\(home)/clock" }

    func advance(seconds: UInt64) throws { try move(boot: seconds, monotonic: seconds) }
    /// The machine sleeps, and wakes again.
    func machineSleeps(forSeconds seconds: UInt64) throws { try move(boot: seconds, monotonic: 0) }
    func moveWall(seconds: UInt64) throws { try move(boot: 0, monotonic: 0, wall: seconds) }

    private func move(boot: UInt64, monotonic: UInt64, wall: UInt64 = 0) throws {
        try offsets.withLock { offsets in
            offsets.boot += boot * 1_000_000_000
            offsets.monotonic += monotonic * 1_000_000_000
            offsets.wall += wall * 1_000_000
            // Of one width, and written in place: the enclave holds the file open, and reads it whole at each look.
            let text =
                [offsets.boot, offsets.monotonic, offsets.wall].map { number in
                    String(repeating: "0", count: 20 - "\(number)".count) + "\(number)"
                }.joined(separator: " ") + "\n"
            try SystemError.check(Int32(pwrite(file.number, text, text.utf8.count, 0)), "move the enclave's clock")
        }
    }
}
