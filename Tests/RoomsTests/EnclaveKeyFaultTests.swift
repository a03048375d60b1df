// Private keys while rooms are killed, while the keychain locks and unlocks, and on another device.

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

@Suite("Keys of the enclave under faults", .serialized)
struct EnclaveKeyFaultTests {
    private static let keyControl = try? AccessControl(protection: .whenUnlocked, flags: .privateKeyUsage)
    /// Percentages of the time that the creation of a key once took, where it takes longer now, and where it takes less.
    private static let (longer, shorter): ([UInt64], [UInt64]) = ([100, 200, 400, 800, 1600], [100, 50, 25, 10, 5])

    /// Starts a client of these rooms, which is a separate process.
    private func start(_ rooms: Rooms, _ words: [String]) throws -> (process: Process, output: Pipe) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "\(Rooms.programs)/keychain-caller")
        process.arguments = ["key"] + words
        process.environment = ["VAUBAN_HOME": rooms.home]
        process.standardOutput = output
        try process.run()
        return (process, output)
    }

    private func run(_ rooms: Rooms, _ words: String...) throws -> String {
        let (process, output) = try start(rooms, words)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// After a kill at any moment there is a key that signs, or none.
    @Test(
        "A kill during the creation of a key leaves a complete key or none",
        arguments: ["enclaved", "keychaind", "the client"])
    func killDuringCreationLeavesACompleteKeyOrNone(
        _ victim: String
    )
        throws
    {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let began = MachineClock.monotonic
        #expect(try run(rooms, "make", "whole", "first") == "0")
        let whole = MachineClock.monotonic - began
        var (made, none) = (0, 0)
        // Twelve are enough if both have occurred by then.
        for round in 1...300 where round <= 12 || made == 0 || none == 0 {
            let room = victim == "the client" ? 0 : try rooms.process(of: victim)
            let (client, output) = try start(rooms, ["make", "round \(round)", "first"])
            // In twentieths of the whole, in a mixed order: a kill before the creation began is like one after it if the client tries
            // again.
            let percent = round <= 12 ? 100 : (made == 0 ? Self.longer : Self.shorter)[round % 5]
            let moment = MachineClock.monotonic + whole * UInt64(round * 7 % 24) / 20 * percent / 100
            while MachineClock.monotonic < moment { sched_yield() }
            if victim == "the client" { kill(client.processIdentifier, SIGKILL) } else { try rooms.killAndAwait(victim, room) }
            _ = output.fileHandleForReading.readDataToEndOfFile()
            client.waitUntilExit()
            try awaitTrue("the enclave") { try rooms.authentication.status().device.lock != .unreadable }
            try awaitTrue("an unlocked keychain") {
                try? rooms.unlock()
                return try rooms.authentication.status().device.lock == .unlocked
            }
            var signed = try run(rooms, "sign", "round \(round)", "00")
            // A halted machine may leave a call unanswered.
            for _ in 0..<2 where signed == "-25291" { signed = try run(rooms, "sign", "round \(round)", "00") }
            let isMade = signed.hasPrefix("0 ")
            #expect(isMade || signed == "-25300", "\(signed)")
            if isMade { made += 1 } else { none += 1 }
        }
        #expect(try run(rooms, "sign", "whole", "00").hasPrefix("0 "))
        #expect(made > 0 && none > 0, "\(made) keys, \(none) times none")
        print("\(victim) killed \(made + none) times: \(made) keys, \(none) times none")
    }

    /// Ten thousand signatures by sixteen processes, while the keychain locks and unlocks: each valid, or refused as locked.
    @Test("While the keychain locks and unlocks, each of ten thousand signatures is valid or refused as locked")
    func tenThousandSignaturesWhileTheDeviceLocks() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        #expect(try run(rooms, "make", "storm") == "0")
        let clients = try (0..<16).map { _ in try start(rooms, ["storm", "storm", "625"]) }
        var locks = 0
        while clients.contains(where: \.process.isRunning) {
            try answered { try rooms.authentication.lock() }
            locks += 1
            try rooms.unlock()
        }
        var counts: [String: Int] = [:]
        for client in clients {
            let text = String(decoding: client.output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            for part in text.split(whereSeparator: \.isWhitespace) {
                let halves = part.split(separator: "=")
                if halves.count == 2 { counts[String(halves[0]), default: 0] += Int(halves[1]) ?? 0 }
            }
        }
        print("\(locks) locks: \(counts)")
        // A machine that halts for longer than a call waits leaves at most one call of each client unanswered, here up to three times.
        let unanswered = counts.removeValue(forKey: "unanswered") ?? 0
        #expect(unanswered <= 3 * clients.count)
        #expect(Set(counts.keys).isSubset(of: ["right", "-25308"]), "\(counts)")
        #expect(counts.values.reduce(unanswered, +) == 10_000 && counts["right"] ?? 0 > 0 && counts["-25308"] ?? 0 > 0 && locks > 0)
    }

    /// On another device, and here after an erasure, it is not a key (C-163).
    @Test("A key of another device, or from before an erasure, cannot be used", .provesEquivalent("C-163"))
    func keyOfAnotherDeviceCannotBeUsed() throws {
        let (rooms, others) = (try Rooms(), try Rooms())
        for rooms in [rooms, others] { try rooms.setPasscode() }
        let client = KeyClient(service: rooms.service)
        let key = try client.make(.p256, try #require(Self.keyControl))
        let digest = [UInt8](repeating: 1, count: 32)
        guard case .signature = try client.use(key, for: .sign, input: digest) else {
            Issue.record("not signed")
            return
        }
        #expect(refusal { _ = try KeyClient(service: others.service).use(key, for: .sign, input: digest) } == .keyOfAnotherDevice)
        let damaged = EnclaveKey(
            kind: key.kind, user: key.user, identifier: key.identifier, control: key.control, publicKey: key.publicKey.map { $0 ^ 1 },
            generation: key.generation, wrapped: key.wrapped)
        #expect(refusal { _ = try client.use(damaged, for: .sign, input: digest) } == .keyDamaged)
        try rooms.authentication.erase(secret(Rooms.passcode))
        #expect(refusal { _ = try client.use(key, for: .sign, input: digest) } == .keyDestroyed)
        try MemoryScanTests.expectSentences([
            "another installation, or the same one after an erasure, refuses it"
        ])
    }

    /// A process that opens more and more connections loses those that it does not use, without any effect on its clients.
    @Test("Idle connections of a process are closed without any effect on its clients") func idleConnectionsAreClosed() throws {
        let rooms = try Rooms()
        let control = try #require(Self.keyControl)
        let clients = (0..<80).map { _ in KeyClient(service: rooms.service) }
        let keys = try clients.map { try $0.make(.p256, control) }
        let enclave = try rooms.process(of: "enclaved")
        // The thread of a closed connection ends a little later.
        try awaitTrue("few threads") { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(enclave)/task").count < 32 + 20 }
        for (client, key) in zip(clients, keys) {
            guard case .signature = try client.use(key, for: .sign, input: [UInt8](repeating: 1, count: 32)) else {
                Issue.record("not signed")
                return
            }
        }
    }

    /// If every connection waits for the user, another one is refused with its reason, and those that wait continue.
    @Test("Connections that wait for the user stay open, and one beyond the limit is refused with the reason")
    func connectionsInUseStayOpen() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let guarded = try AccessControl(protection: .whenUnlocked, flags: [.privateKeyUsage, .userPresence])
        let key = try KeyClient(service: rooms.service).make(.p256, guarded)
        let user = try rooms.user([.silence])
        defer { user.leave() }
        let cancellations = (0..<32).map { _ in CallCancellation() }
        let asked = Counter()
        let waiting = cancellations.map { cancellation in
            Running {
                refusal {
                    try answered {
                        let client = KeyClient(service: rooms.service)
                        _ = try client.use(key, for: .sign, input: [1], waiting: { _ in asked.count() }, cancellation: cancellation)
                    }
                }
            }
        }
        try awaitTrue("every line in use") { asked.value == 32 }
        var found: Refusal?
        do { _ = try KeyClient(service: rooms.service).make(.p256, guarded) } catch { found = error }
        #expect(found?.reason == .unavailable && found?.detail?.contains("use private keys at once") == true)
        #expect(waiting.allSatisfy { !$0.isOver })
        for cancellation in cancellations { cancellation.cancel() }
        for call in waiting {
            let why = try call.value()
            #expect(why != nil)
        }
        // The enclave notices a moment later that the callers are gone.
        try awaitTrue("a free line") { try KeyClient(service: rooms.service).make(.p256, guarded).kind == .p256 }
    }
}

private final class Counter: Sendable {
    private let state = Mutex(0)
    var value: Int { state.withLock { $0 } }
    func count() { state.withLock { $0 += 1 } }
}
