// Kills, malformed bytes and damaged files, at the real sockets of real rooms.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanDER
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

@Suite("Faults")
struct FaultTests {
    /// Adds items in one thread while each room is killed in turn: every acknowledged item exists, and every existing item can be read.
    @Test("Killing any room during adds loses nothing that was acknowledged")
    func killingAnyRoomDuringAddsLosesNothingAcknowledged() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let acknowledged = Mutex<[Int]>([])
        let isOver = Mutex(false)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            var number = 0
            while !isOver.withLock({ $0 }) {
                number += 1
                if (try? rooms.add("kill", "\(number)", "value \(number)")) != nil { acknowledged.withLock { $0.append(number) } }
            }
            ended.signal()
        }
        for (round, room) in ["keychaind", "enclaved", "authd", "keychaind", "vauban-witness", "vauban-watcher"]
            .enumerated()
        {
            let before = acknowledged.withLock { $0.count }
            while acknowledged.withLock({ $0.count }) < before + 20 { sched_yield() }
            try rooms.killAndAwait(room)
            if room == "enclaved" { try retry { try rooms.unlock() } }
            _ = round
        }
        isOver.withLock { $0 = true }
        ended.wait()
        for number in acknowledged.withLock({ $0 }) { #expect(try rooms.read("kill", "\(number)") == "value \(number)") }
        // No item is incomplete: every row opens, its value included.
        var all = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("kill")]))
        all.limit = .all
        all.returns = [.data, .attributes]
        for entry in try rooms.keychain.copyMatching(all) {
            guard case .text(let account)? = entry.record?.attributes[.account], let value = entry.takeSecret() else {
                Issue.record("half a row"); continue
            }
            #expect(String(decoding: value.disclosed(), as: UTF8.self) == "value \(account)")
        }
    }

    @Test("Malformed bytes end only their connection", arguments: ["keychain", "authentication", "enclave"])
    func malformedBytesEndOnlyTheirConnection(socket: String) throws {
        let rooms = try Rooms()
        try rooms.add("s", "a", "unharmed")
        let address = ServerAddress(folder: rooms.service.sockets, socket: socket, serverUID: geteuid())
        let good = try KeychainRequest.delete(Rooms.query("x", "y")).encoded()
        let bodies: [[UInt8]] = [
            [], [0x30], [0x30, 0x03, 0x02, 0x01], good + [0x00], Array(good.dropLast()), [UInt8](repeating: 0xFF, count: 100),
        ]
        // Lengths beyond every limit are refused before a byte is stored.
        var frames: [[UInt8]] = [[0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], [0, 0, 0, 4, 0x7F, 0xFF, 0xFF, 0xFF]]
        frames += bodies.map { body in withUnsafeBytes(of: UInt32(body.count).bigEndian) { Array($0) } + [0, 0, 0, 0] + body }
        for frame in frames {
            // A halted machine ends it late once. A room that waits for more bytes gives up after twice this time.
            let isEnded = try (0..<3).contains { _ in
                let channel = try address.connect(role: socket == "enclave" ? 1 : 0, within: HangLimit.nanoseconds)
                #expect(write(channel.socket.number, frame, frame.count) == frame.count)
                return ends(channel, within: .after(ConnectionLimits.machineTime / 2))
            }
            #expect(isEnded, "after \(frame)")
        }
        #expect(try rooms.read("s", "a") == "unharmed")
    }

    @Test("An unknown request is refused by name, and the connection continues")
    func unknownRequestIsRefusedByNameAndTheConnectionContinues() throws {
        let rooms = try Rooms()
        let channel = try rooms.service.keychainAddress.connect(within: HangLimit.nanoseconds)
        // SEQUENCE { INTEGER 1, [25] {} }: a request that this version does not have.
        try channel.send(header: [0x30, 0x05, 0x02, 0x01, 0x01, 0xB9, 0x00])
        let first = try nextRefusal(on: channel)
        #expect(first?.reason == .unknownRequest)
        #expect(first?.detail?.contains("25") == true)
        try channel.send(header: try KeychainRequest.delete(Rooms.query("x", "y")).encoded())
        #expect(try nextRefusal(on: channel)?.reason == .itemNotFound)
        // A future version is malformed here, and the reply contains that reason.
        try channel.send(header: [0x30, 0x05, 0x02, 0x01, 0x02, 0xA1, 0x00])
        let third = try nextRefusal(on: channel)
        #expect(third?.reason == .malformed && third?.detail?.contains("version") == true)
    }

    /// Returns the reply if it is a refusal, without the notices before it that the request goes on, which a slow machine causes.
    private func nextRefusal(on channel: Channel) throws -> Refusal? {
        while true {
            switch try KeychainReply(derBytes: try channel.receive(.after(HangLimit.nanoseconds)).header) {
            case .queued: continue
            case .refused(let refusal): return refusal
            default: return nil
            }
        }
    }

    /// Another process that was passed the connection writes a complete, correct request: it is not the process that connected.
    @Test("A connection that was passed to another process is refused") func aConnectionInAnotherProcessIsRefused() throws {
        let rooms = try Rooms()
        try rooms.add("s", "a", "mine")
        let channel = try rooms.service.keychainAddress.connect(within: HangLimit.nanoseconds)
        var query = Rooms.query("s", "a")
        query.returns.insert(.data)
        let header = try KeychainRequest.copyMatching(query).encoded()
        let frame = withUnsafeBytes(of: UInt32(header.count).bigEndian) { Array($0) } + [0, 0, 0, 0] + header
        let file = "\(rooms.home)/frame"
        try Data(frame).write(to: URL(fileURLWithPath: file))
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/bin/cat")
        child.arguments = [file]
        child.standardOutput = FileHandle(fileDescriptor: channel.socket.number, closeOnDealloc: false)
        try child.run()
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
        // At most a refusal arrives before the end, and nothing that was requested.
        do {
            let reply = try KeychainReply(derBytes: try channel.receive(.after(HangLimit.nanoseconds)).header)
            guard case .refused = reply else { Issue.record("the request was served"); return }
            #expect(ends(channel, within: .after(HangLimit.nanoseconds)))
        } catch let fault as ChannelError {
            if case .deadline = fault { Issue.record("the connection was left open") }
        }
        // The same bytes from the process that connected are served.
        let own = try rooms.service.keychainAddress.connect(within: HangLimit.nanoseconds)
        #expect(write(own.socket.number, frame, frame.count) == frame.count)
        if let refusal = try nextRefusal(on: own) { Issue.record("refused: \(refusal)") }
    }

    @Test("A second launcher refuses to start") func aSecondLauncherRefusesToStart() throws {
        let rooms = try Rooms()
        let second = Process()
        second.executableURL = URL(fileURLWithPath: "\(Rooms.programs)/rooms-testing")
        second.arguments = ["--home", rooms.home, "--sockets", rooms.service.sockets]
        let words = Pipe()
        second.standardError = words
        try second.run()
        second.waitUntilExit()
        #expect(second.terminationStatus != 0)
        #expect(String(decoding: words.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).contains("already"))
        #expect(try rooms.authentication.status().device.lock == .unlocked)
    }

    @Test("A damaged keybag is quarantined and reported, and never replaced")
    func damagedKeybagIsQuarantinedReportedAndNeverReplaced() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("s", "a", "behind a damaged keybag")
        try rooms.stopService()
        let folder = "\(rooms.home)/enclave/people/\(geteuid())"
        let keybag = "\(folder)/keybag"
        let good = try Data(contentsOf: URL(fileURLWithPath: keybag))
        var bad = good
        bad[bad.count / 2] ^= 1
        try bad.write(to: URL(fileURLWithPath: keybag))
        try rooms.startService()
        let status = try rooms.authentication.status().device
        #expect(status.lock == .unreadable)
        #expect(status.warnings.contains { $0.contains("keybag.quarantined-1") })
        #expect(refusal { _ = try rooms.read("s", "a") } == .stateUnreadable)
        #expect(refusal { try rooms.add("s", "new", "x") } == .stateUnreadable)
        #expect(refusal { try rooms.authentication.setPasscode(secret("a new passcode")) } == .stateUnreadable)
        #expect(!FileManager.default.fileExists(atPath: keybag))
        // Restoring a good copy repairs it.
        try rooms.stopService()
        try good.write(to: URL(fileURLWithPath: keybag))
        chmod(keybag, 0o600)
        try rooms.startService()
        try rooms.unlock()
        #expect(try rooms.read("s", "a") == "behind a damaged keybag")
    }

    @Test("A prompt ends when its agent or its caller dies") func aPromptEndsWhenTheAgentOrTheCallerDies() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("s", "p", "x", control: try AccessControl(protection: .whenUnlocked, flags: .userPresence))
        let user = try rooms.user([.silence])
        let ended = DispatchSemaphore(value: 0)
        let reason = Mutex<Refusal.Reason?>(nil)
        Thread.detachNewThread {
            let why = refusal { _ = try rooms.read("s", "p") }
            reason.withLock { $0 = why }
            ended.signal()
        }
        #expect(user.awaitPrompt())
        user.leave()
        #expect(ended.wait(timeout: .now() + HangLimit.seconds) == .success)
        #expect(reason.withLock { $0 } == .noPromptAgent)
        // authd itself is killed during the prompt.
        let another = try rooms.user([.silence])
        Thread.detachNewThread {
            let why = refusal { _ = try rooms.read("s", "p") }
            reason.withLock { $0 = why }
            ended.signal()
        }
        #expect(another.awaitPrompt())
        kill(try rooms.process(of: "authd"), SIGKILL)
        #expect(ended.wait(timeout: .now() + HangLimit.seconds) == .success)
        #expect(reason.withLock { $0 } == .noPromptAgent)
    }

    /// Returns the refusal of each call; nil for one that succeeded. The calls run at the same time, since each waits.
    private func refusals(of calls: [@Sendable () throws -> Void]) -> [Refusal?] {
        let found = Mutex([Refusal?](repeating: nil, count: calls.count))
        let ended = DispatchGroup()
        for (index, call) in calls.enumerated() {
            ended.enter()
            Thread.detachNewThread {
                do { try call() } catch {
                    found.withLock { $0[index] = error as? Refusal ?? Refusal(.internalError) }
                }
                ended.leave()
            }
        }
        ended.wait()
        return found.withLock { $0 }
    }

    @Test("A refusal names the room that is silent, not the one that waited for it") func silentRoomIsNamed() throws {
        let (rooms, others) = (try Rooms(), try Rooms())
        for each in [rooms, others] {
            try each.add("s", "a", "x")
            // The first request may still report the end of the log to the enclave after its reply; this one comes after that.
            #expect(try each.read("s", "a") == "x")
            _ = try each.authentication.status()
        }
        let (enclave, keychain) = (try rooms.process(of: "enclaved"), try others.process(of: "keychaind"))
        try rooms.stop(enclave)
        try others.stop(keychain)
        defer {
            kill(enclave, SIGCONT)
            kill(keychain, SIGCONT)
        }
        let ofEnclave = Refusal(.unavailable, "The enclave does not answer")
        let ofKeychain = Refusal(.unavailable, "The keychain did not answer in time")
        let expected: [Refusal?] = Array(repeating: ofEnclave, count: 5) + [ofKeychain]
        // A machine that halts for the five seconds that a client waits longer than keychaind and authd makes those the silent rooms.
        var found = refusalsWhileSilent(rooms, others)
        for _ in 0..<4 where found != expected { found = refusalsWhileSilent(rooms, others) }
        #expect(found == expected)
        // Nothing is left of it.
        kill(enclave, SIGCONT)
        kill(keychain, SIGCONT)
        for each in [rooms, others] {
            try retry { _ = try each.read("s", "a") }
            #expect(try each.read("s", "a") == "x")
        }
        try answered { _ = try rooms.authentication.status() }
    }

    /// Returns the refusals of five calls that need the silent enclave of the first rooms, two of them the first over their connection, and
    /// of one that needs the silent keychaind of the others.
    private func refusalsWhileSilent(_ rooms: Rooms, _ others: Rooms) -> [Refusal?] {
        let fresh = KeychainClient(service: rooms.service)
        let freshAuthentication = AuthenticationClient(service: rooms.service)
        @Sendable func read(_ client: KeychainClient) throws {
            var query = Rooms.query("s", "a")
            query.returns.insert(.data)
            _ = try client.copyMatching(query)
        }
        return refusals(of: [
            { try read(rooms.keychain) },
            {
                let value: SecretBytes? = secret("x")
                let attributes = ItemAttributes([.service: .text("s"), .account: .text("b")])
                _ = try rooms.keychain.add(ItemRecord(kind: .genericPassword, attributes: attributes), secret: value)
            },
            {
                let value: SecretBytes? = secret("y")
                try fresh.update(Rooms.query("s", "a"), ItemChanges(attributes: ItemAttributes(), hasData: true), secret: value)
            },
            { _ = try rooms.authentication.status() },
            { try freshAuthentication.lock() },
            { try read(others.keychain) },
        ])
    }

    /// Returns whether the connection ends in time, with at most one typed refusal before.
    private func ends(_ channel: Channel, within timeout: Timeout) -> Bool {
        for _ in 0..<2 {
            do throws(ChannelError) { _ = try channel.receive(timeout) } catch {
                if case .deadline = error { return false }
                return true
            }
        }
        return false
    }

    private func retry(_ body: () throws -> Void) throws {
        let deadline = MachineClock.monotonic + HangLimit.nanoseconds
        while true {
            do { return try body() } catch { if MachineClock.monotonic > deadline { throw error } }
            sched_yield()
        }
    }
}
