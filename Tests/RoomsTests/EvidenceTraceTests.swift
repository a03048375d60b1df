// The enclave's steps during prompts, recorded from real rooms and replayed on the model of the protocol (Specs/evidence-protocol.md): spin
// decides whether the trace is a run of it.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeyWire
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

@Suite struct EvidenceTraceTests {
    @Test("Traces of the real rooms are runs of the model") func tracesOfTheRoomsAreRunsOfTheModel() throws {
        guard let spin = run("/bin/sh", ["-c", "command -v spin && command -v gcc && command -v python3"]), spin.status == 0 else {
            try Test.cancel("spin, gcc or python3 is missing")
        }
        var template = Array("\(NSTemporaryDirectory())/vauban-trace-XXXXXX".utf8CString)
        let folder = String(cString: try #require(mkdtemp(&template)))
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let trace = "\(folder)/rooms.trace"
        do {
            let rooms = try Rooms(enclaveArguments: ["--trace", trace])
            try play(in: rooms)
        }
        let text = try String(contentsOfFile: trace, encoding: .utf8)
        // The trace contains what was played: an empty one would prove nothing.
        for word in ["request", "shown", "answer", "use", "count", "evidence", "release", "lock", "end"] {
            let isThere = text.contains("\(word) ")
            #expect(isThere, "no \(word) in:\n\(text)")
        }
        #expect(text.components(separatedBy: "\nrelease ").count - 1 == 10, "\(text)")
        let replayed = try #require(run("/usr/bin/env", ["python3", "Models/evidence.py", "replay", trace]))
        #expect(replayed.status == 0, "\(replayed.output)\n\(text)")
        // The same trace without one step is not a run.
        for step in ["count", "shown", "evidence"] {
            var lines = text.split(separator: "\n")
            let first = lines.firstIndex { $0.hasPrefix("release ") }
            let released = try #require(first)
            let cut = lines[..<released].lastIndex { $0.hasPrefix("\(step) ") }
            let last = lines[released]
            lines.remove(at: try #require(cut))
            try (lines[..<(released - 1)].joined(separator: "\n") + "\n\(last)\n").write(
                toFile: "\(folder)/cut.trace", atomically: false, encoding: .utf8)
            let status = run("/usr/bin/env", ["python3", "Models/evidence.py", "replay", "\(folder)/cut.trace"])?.status
            #expect(status == 1, "without its \(step)")
        }
    }

    private func play(in rooms: Rooms) throws {
        try rooms.setPasscode()
        try rooms.add("s", "a", "guarded", control: try AccessControl(protection: .whenUnlocked, flags: .userPresence))
        let wrong = ScriptedUser.Answer.passcode("wrong one")
        let right = ScriptedUser.Answer.passcode(Rooms.passcode)

        try asked(rooms, [right]) { try expectValue(rooms) }
        try asked(rooms, [wrong, right]) { try expectValue(rooms) }
        try asked(rooms, [.cancel]) { expectRefusal(.cancelled, rooms) }
        try asked(rooms, [wrong, wrong, wrong]) { expectRefusal(.authenticationFailed, rooms) }
        try rooms.unlock()
        try asked(rooms, [right]) { try rooms.authentication.evaluate(.biometryOrPasscode, reason: "open the settings") }

        let change = CredentialChange.configure(
            before: .standard, after: LockSettings(graceSeconds: 30, idleSeconds: 0, locksWithScreen: false))
        try asked(rooms, [wrong, right]) { try rooms.authentication.changeByPrompt(change) }
        try asked(rooms, [wrong, right]) { try rooms.authentication.changeByPrompt(.makeRecoveryKey) }
        try asked(rooms, [.newPasscode("wrong one", "another horse"), .newPasscode(Rooms.passcode, Rooms.passcode)]) {
            try rooms.authentication.changeByPrompt(.changePasscode)
        }

        // A private key is used, and a wrong passcode uses none.
        let client = KeyClient(service: rooms.service)
        let key = try client.make(.p256, AccessControl(protection: .whenUnlocked, flags: [.privateKeyUsage, .userPresence]))
        try asked(rooms, [wrong, right]) { _ = try client.use(key, for: .sign, input: [UInt8](repeating: 1, count: 32)) }

        // The caller leaves during the prompt.
        let cancellation = CallCancellation()
        try asked(rooms, [.silence]) { user in
            let gone = inBackground { try rooms.authentication.evaluate(.biometryOrPasscode, reason: "wait", cancellation: cancellation) }
            let isAsked = user.awaitPrompt()
            #expect(isAsked)
            cancellation.cancel()
            let why = gone()
            #expect(why != nil)
            // Until it is off the screen, the next user could see it.
            try awaitTrue("the end of the prompt") { user.outcomes.count == 1 }
        }

        // Two callers at once.
        try asked(rooms, [right, right]) { _ in
            let other = inBackground { try rooms.authentication.evaluate(.biometryOrPasscode, reason: "at once") }
            try expectValue(rooms)
            let why = other()
            #expect(why == nil)
        }

        // The keychain locks during the prompt: a correct passcode releases nothing.
        try asked(rooms, [.afterwards({ try? rooms.authentication.lock() }, Rooms.passcode)]) { _ in
            expectRefusal(.locked, rooms)
        }
        try rooms.unlock()
        try asked(rooms, [right]) { try expectValue(rooms) }
    }

    private func asked(_ rooms: Rooms, _ answers: [ScriptedUser.Answer], body: () throws -> Void) throws {
        try asked(rooms, answers) { _ in try body() }
    }

    private func asked(_ rooms: Rooms, _ answers: [ScriptedUser.Answer], body: (ScriptedUser) throws -> Void) throws {
        let user = try rooms.user(answers)
        defer { user.leave() }
        try body(user)
    }

    private func expectValue(_ rooms: Rooms) throws {
        let value = try rooms.read("s", "a")
        #expect(value == "guarded")
    }

    private func expectRefusal(_ expected: Refusal.Reason, _ rooms: Rooms) {
        let why = refusal { _ = try rooms.read("s", "a") }
        #expect(why == expected)
    }

    /// Begins a call on a separate thread; the returned closure waits for its end and returns the reason of its refusal.
    private func inBackground(_ body: @escaping @Sendable () throws -> Void) -> () -> Refusal.Reason? {
        let ended = DispatchSemaphore(value: 0)
        let result = Answer(ended: ended)
        Thread.detachNewThread {
            let reason = refusal(body)
            result.set(reason)
            ended.signal()
        }
        return { result.wait() }
    }

    private final class Answer: Sendable {
        private let ended: DispatchSemaphore
        private let reason = Mutex<Refusal.Reason?>(nil)
        init(ended: DispatchSemaphore) { self.ended = ended }
        func set(_ reason: Refusal.Reason?) { self.reason.withLock { $0 = reason } }
        func wait() -> Refusal.Reason? {
            guard ended.wait(timeout: .now() + HangLimit.seconds) == .success else { return .internalError }
            return reason.withLock { $0 }
        }
    }

    private func run(_ program: String, _ arguments: [String]) -> (status: Int32, output: String)? {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        guard (try? process.run()) != nil else { return nil }
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
