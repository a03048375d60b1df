// The real sheet on a real display, between the client library and the rooms, with a reader at the enclave's socket.

import EnclaveWire
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanUserModel

@Suite("The sheet", .serialized)
struct SheetTests {
    /// A call on a separate thread, as every call that may wait for the user.
    private final class Call<Value: Sendable>: Sendable {
        private let result = Mutex<Result<Value, any Error>?>(nil)
        private let ended = DispatchSemaphore(value: 0)

        init(_ body: @escaping @Sendable () throws -> Value) {
            let thread = Thread { [self] in
                let got = Result { try body() }
                result.withLock { $0 = got }
                ended.signal()
            }
            thread.stackSize = 1 << 19
            thread.start()
        }

        func value() throws -> Value {
            guard ended.wait(timeout: .now() + HangLimit.seconds) == .success, let result = result.withLock({ $0 }) else {
                throw Desktop.TimeoutError(description: "the call does not end")
            }
            return try result.get()
        }
    }

    private func missed(_ reader: VirtualReader) throws {
        guard let nonce = reader.askedNonces.last else { throw Desktop.TimeoutError(description: "no finger was asked for") }
        try reader.report(ReaderVerdict(outcome: .missed, user: geteuid(), nonce: nonce, fingers: [UInt8](repeating: 0xF1, count: 32)))
    }

    @Test("A matching fingerprint closes the window", .proves("C-095", "C-096", "C-098", "C-102", "C-104", "C-111"))
    func matchingFingerprintClosesTheWindow() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        let desktop = try Desktop(rooms)
        defer { desktop.end() }
        reader.expect(.nothing, .nothing)
        let call = Call { try rooms.read("s", "p", prompt: "show the balance of Anna’s account") }
        try desktop.step("sees Touch the fingerprint reader to allow it.")
        try desktop.step("sees Message: “show the balance of Anna’s account”")
        try desktop.step("sees Fingerprint: touch the reader")
        try desktop.step("shot finger-waiting")
        #expect(reader.awaitRequest())
        try missed(reader)
        try desktop.step("sees That finger was not recognized. Try again.")
        try desktop.step("sees Fingerprint: not recognized, try again")
        try desktop.step("shot finger-again")
        try awaitTrue("another finger asked for") { reader.asks == 2 }
        reader.touch()
        try desktop.step("gone")
        #expect(try call.value() == "guarded")
    }

    @Test("The second button opens the passcode entry", .proves("C-098", "C-103"))
    func theSecondButtonOpensTheEntryForThePasscode() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        let desktop = try Desktop(rooms)
        defer { desktop.end() }
        reader.expect(.nothing)
        let call = Call { try rooms.read("s", "p") }
        try desktop.step("click Use Passcode…")
        try desktop.step("sees or type your Vauban passcode")
        try desktop.step("shot finger-or-passcode")
        try desktop.step("type \(Rooms.passcode)")
        try desktop.step("key Return")
        try desktop.step("gone")
        #expect(try call.value() == "guarded")
    }

    @Test("If fingerprints do not count, the window asks for the passcode", .proves("C-103", "C-138", "C-139", "C-140"))
    func disabledFingersFallBackToThePasscode() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        let desktop = try Desktop(rooms)
        defer { desktop.end() }
        reader.expect(.miss, .miss, .miss)
        let first = Call { try rooms.read("s", "p") }
        // One prompt accepts three misses at most; the rest of the five belong to the next.
        try desktop.step("sees Type your Vauban passcode to allow it.")
        try desktop.step("sees Fingerprints no longer count for this prompt. Type your passcode.")
        try desktop.step("key Escape")
        try desktop.step("gone")
        #expect(throws: (any Error).self) { try first.value() }
        #expect(try rooms.biometry.isReady)
        reader.expect(.miss, .miss)
        let after = Call { try rooms.read("s", "p") }
        try desktop.step("sees Fingerprints are switched off until you type your passcode.")
        try desktop.step("sees Fingerprint: not accepted, type your passcode")
        try desktop.step("shot finger-disabled")
        try desktop.step("type \(Rooms.passcode)")
        try desktop.step("key Return")
        try desktop.step("gone")
        #expect(try after.value() == "guarded")
        #expect(try rooms.biometry.isReady)
    }
}
