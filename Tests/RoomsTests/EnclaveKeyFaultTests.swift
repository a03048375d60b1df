// Private keys while rooms are killed, while the device locks and unlocks, and on a device that is not theirs.

import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeyWire
import VaubanKeychainClient
import VaubanLinuxHost

@Suite("Keys of the enclave in trouble", .serialized)
struct EnclaveKeyFaultTests {
    private static let keyControl = try? AccessControl(protection: .whenUnlocked, flags: .privateKeyUsage)

    /// Starts a client of these rooms, which is a process of its own.
    private func start(_ rooms: Rooms, _ words: [String]) throws -> (process: Process, output: Pipe) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "\(Rooms.programs)/key-caller")
        process.arguments = words
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

    /// What is there after a kill at any moment is a key that signs, or none.
    @Test(arguments: ["enclaved-testing", "keychaind-testing", "the client"]) func aKillWhileKeysAreMadeLeavesAKeyOrNone(_ victim: String) throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let began = MachineClock.monotonic
        #expect(try run(rooms, "make", "whole", "first") == "0")
        let duration = MachineClock.monotonic - began
        var (made, none) = (0, 0)
        for round in 1...8 {
            let (client, output) = try start(rooms, ["make", "round \(round)", "first"])
            let moment = MachineClock.monotonic + duration * UInt64(round - 1) / 12
            while MachineClock.monotonic < moment { sched_yield() }
            if victim == "the client" { kill(client.processIdentifier, SIGKILL) } else { try rooms.killAndAwait(victim) }
            _ = output.fileHandleForReading.readDataToEndOfFile()
            client.waitUntilExit()
            try awaitTrue("the enclave") { try rooms.authentication.status().device.lock != .unreadable }
            try? rooms.unlock()
            let signed = try run(rooms, "sign", "round \(round)", "00")
            if signed.hasPrefix("0 ") { made += 1 } else { none += 1 }
            #expect(signed.hasPrefix("0 ") || signed == "-25300", "\(signed)")
        }
        #expect(try run(rooms, "sign", "whole", "00").hasPrefix("0 ") && made + none == 8)
        print("\(victim) killed 8 times: \(made) keys, \(none) times none")
    }

    /// Ten thousand signatures by sixteen processes, while the device locks and unlocks: each right, or refused as locked.
    @Test func tenThousandSignaturesWhileTheDeviceLocks() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        #expect(try run(rooms, "make", "storm") == "0")
        let clients = try (0..<16).map { _ in try start(rooms, ["storm", "storm", "625"]) }
        var locks = 0
        while clients.contains(where: \.process.isRunning) {
            try rooms.authentication.lock()
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
        #expect(Set(counts.keys).isSubset(of: ["right", "-25308"]), "\(counts)")
        #expect(counts.values.reduce(0, +) == 10_000 && counts["right"] ?? 0 > 0 && locks > 0)
    }

    /// On another device, and here after an erasure, it is no key (C-163).
    @Test(.provesEquivalent("C-163")) func aKeyIsWorthNothingOnAnotherDevice() throws {
        let (rooms, others) = (try Rooms(), try Rooms())
        for rooms in [rooms, others] { try rooms.setPasscode() }
        let client = KeyClient(service: rooms.service)
        let key = try client.make(.p256, try #require(Self.keyControl))
        let digest = [UInt8](repeating: 1, count: 32)
        guard case .signature = try client.use(key, .sign, digest) else {
            Issue.record("not signed")
            return
        }
        #expect(refusal { _ = try KeyClient(service: others.service).use(key, .sign, digest) } == .keyOfAnotherDevice)
        let damaged = EnclaveKey(
            kind: key.kind, person: key.person, identifier: key.identifier, control: key.control, publicKey: key.publicKey.map { $0 ^ 1 },
            generation: key.generation, wrapped: key.wrapped)
        #expect(refusal { _ = try client.use(damaged, .sign, digest) } == .keyDamaged)
        try rooms.authentication.erase(secret(Rooms.passcode))
        #expect(refusal { _ = try client.use(key, .sign, digest) } == .keyDestroyed)
    }

    /// A process that wants ever more lines is told so, and leaves room when it lets go.
    @Test func manyLinesAreRefusedByName() throws {
        let rooms = try Rooms()
        var lines: [KeyClient] = []
        var last: Refusal.Reason?
        for _ in 0..<80 {
            let client = KeyClient(service: rooms.service)
            last = refusal { _ = try client.make(.p256, AccessControl(protection: .whenUnlocked, flags: [])) }
            if last != nil { break }
            lines.append(client)
        }
        #expect(last == .unavailable && lines.count == 64)
        lines.removeAll()
        try awaitTrue("room for another") {
            refusal { _ = try KeyClient(service: rooms.service).make(.p256, AccessControl(protection: .whenUnlocked, flags: [])) } == nil
        }
    }
}
