// Rooms with a reader, and rooms whose enclave has the test's clock.

import Enclave
import EnclaveBook
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanUserModel

extension Rooms {
    /// Returns a reader at the enclave's socket, once the enclave reports it.
    func reader() throws -> VirtualReader {
        let reader = try VirtualReader(service)
        try awaitReader(isThere: true)
        return reader
    }

    func awaitReader(isThere: Bool) throws {
        try awaitTrue("a reader") { try authentication.status().device.biometry.readerIsPresent == isThere }
    }

    /// Enrolls a fingerprint of this user.
    func enroll(_ reader: VirtualReader, fingers: UInt8 = 0xF1, unlocks: Bool = false, _ passcode: String = Rooms.passcode) throws {
        reader.enrollNext(fingers)
        try authentication.enroll(secret(passcode), unlocks: unlocks)
    }

    /// Runs `body` while a reader is present and a fingerprint of this user is enrolled, and records what it throws.
    func withEnrolledFinger(_ body: (VirtualReader) async throws -> Void) async throws {
        let reader = try reader()
        try enroll(reader)
        do { try await body(reader) } catch { Issue.record(error) }
        try authentication.forgetFingers(secret(Rooms.passcode))
        reader.leave()
        try awaitReader(isThere: false)
    }

    func addGuarded(
        _ account: String, _ flags: AccessControlFlags, protection: ProtectionClass = .whenUnlocked, value: String = "guarded"
    ) throws {
        try add("s", account, value, protection, control: try AccessControl(protection: protection, flags: flags))
    }

    /// Returns the keybag as stored on disk.
    func keybag() throws -> Keybag { try state.keybag(of: geteuid()) }
    var state: StateFolderByTheBook { get throws { try StateFolderByTheBook(enclaveFolder: "\(home)/enclave") } }

    var biometry: DeviceStatus.Biometry { get throws { try authentication.status().device.biometry } }
}

/// Rooms with a passcode and a user whose fingerprint is enrolled.
struct RoomsWithFinger {
    let rooms: Rooms
    let reader: VirtualReader

    init(unlocks: Bool = false, hasClock: Bool = false) throws {
        rooms = try Rooms(hasClock: hasClock)
        try rooms.setPasscode()
        reader = try rooms.reader()
        try rooms.enroll(reader, unlocks: unlocks)
    }
}

/// Waits for a condition that can only be polled; throws if it is never met.
func awaitTrue(_ what: String, _ isSo: () throws -> Bool) throws {
    let deadline = MachineClock.monotonic + HangLimit.nanoseconds
    while true {
        if (try? isSo()) == true { return }
        if MachineClock.monotonic > deadline { throw SystemError("see \(what)", code: ETIMEDOUT) }
        sched_yield()
    }
}

extension ScriptedUser {
    /// Waits until the prompts that this user was shown offered these methods, oldest first. A finger may end a prompt before the agent's
    /// thread shows it, so the prompt can arrive after the operation that it was for. Throws what was shown instead.
    func awaitPrompts(offering methods: [AuthenticationMethods]) throws {
        do {
            try awaitTrue("the prompts") { requests.map(\.methods) == methods }
        } catch {
            let shown = requests.map { "\($0.operation) by \($0.methods)" }
            Issue.record("prompts: \(shown), outcomes: \(outcomes), updates: \(updates); expected methods: \(methods)")
            throw error
        }
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
    /// Lets the machine sleep and wake.
    func machineSleeps(forSeconds seconds: UInt64) throws { try move(boot: seconds, monotonic: 0) }
    func moveWall(seconds: UInt64) throws { try move(boot: 0, monotonic: 0, wall: seconds) }

    private func move(boot: UInt64, monotonic: UInt64, wall: UInt64 = 0) throws {
        try offsets.withLock { offsets in
            offsets.boot += boot * 1_000_000_000
            offsets.monotonic += monotonic * 1_000_000_000
            offsets.wall += wall * 1_000_000
            // Of fixed width, and written in place: the enclave keeps the file open, and reads it whole at each use.
            let text =
                [offsets.boot, offsets.monotonic, offsets.wall].map { number in
                    String(repeating: "0", count: 20 - "\(number)".count) + "\(number)"
                }.joined(separator: " ") + "\n"
            try SystemError.check(Int32(pwrite(file.number, text, text.utf8.count, 0)), "move the enclave's clock")
        }
    }
}
