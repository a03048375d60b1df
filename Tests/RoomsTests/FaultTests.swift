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
        for body in bodies {
            let channel = try address.connect(role: socket == "enclave" ? 1 : 0)
            var frame = withUnsafeBytes(of: UInt32(body.count).bigEndian) { Array($0) } + [0, 0, 0, 0]
            frame += body
            #expect(write(channel.socket.number, frame, frame.count) == frame.count)
            try expectEnd(of: channel)
        }
        // Lengths beyond every limit are refused before a byte is stored.
        for lengths: [UInt8] in [[0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], [0, 0, 0, 4, 0x7F, 0xFF, 0xFF, 0xFF]] {
            let channel = try address.connect(role: socket == "enclave" ? 1 : 0)
            #expect(write(channel.socket.number, lengths, 8) == 8)
            try expectEnd(of: channel)
        }
        #expect(try rooms.read("s", "a") == "unharmed")
    }

    @Test("An unknown request is refused by name, and the connection continues")
    func unknownRequestIsRefusedByNameAndTheConnectionContinues() throws {
        let rooms = try Rooms()
        let channel = try rooms.service.keychainAddress.connect()
        // SEQUENCE { INTEGER 1, [25] {} }: a request that this version does not have.
        try channel.send(header: [0x30, 0x05, 0x02, 0x01, 0x01, 0xB9, 0x00])
        guard case .refused(let refusal) = try KeychainReply(derBytes: try channel.receive(.machine).header) else {
            Issue.record("not refused"); return
        }
        #expect(refusal.reason == .unknownRequest)
        #expect(refusal.detail?.contains("25") == true)
        try channel.send(header: try KeychainRequest.delete(Rooms.query("x", "y")).encoded())
        guard case .refused(let second) = try KeychainReply(derBytes: try channel.receive(.machine).header) else {
            Issue.record("not refused"); return
        }
        #expect(second.reason == .itemNotFound)
        // A future version is malformed here, and the reply contains that reason.
        try channel.send(header: [0x30, 0x05, 0x02, 0x01, 0x02, 0xA1, 0x00])
        guard case .refused(let third) = try KeychainReply(derBytes: try channel.receive(.machine).header) else {
            Issue.record("not refused"); return
        }
        #expect(third.reason == .malformed && third.detail?.contains("version") == true)
    }

    /// Another process that was passed the connection writes a complete, correct request: it is not the process that connected.
    @Test("A connection that was passed to another process is refused") func aConnectionInAnotherProcessIsRefused() throws {
        let rooms = try Rooms()
        try rooms.add("s", "a", "mine")
        let channel = try rooms.service.keychainAddress.connect()
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
            let reply = try KeychainReply(derBytes: try channel.receive(.machine).header)
            guard case .refused = reply else { Issue.record("the request was served"); return }
            try expectEnd(of: channel)
        } catch let fault as ChannelError {
            if case .deadline = fault { Issue.record("the connection was left open") }
        }
        // The same bytes from the process that connected are served.
        let own = try rooms.service.keychainAddress.connect()
        #expect(write(own.socket.number, frame, frame.count) == frame.count)
        let served = try KeychainReply(derBytes: try own.receive(.machine).header)
        if case .refused(let refusal) = served { Issue.record("refused: \(refusal)") }
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
        _ = try LauncherControl.stop(home: rooms.home)
        let folder = "\(rooms.home)/enclave/people/\(geteuid())"
        let keybag = "\(folder)/keybag"
        let good = try Data(contentsOf: URL(fileURLWithPath: keybag))
        var bad = good
        bad[bad.count / 2] ^= 1
        try bad.write(to: URL(fileURLWithPath: keybag))
        _ = try ServiceStarter.start(rooms.service)
        let status = try rooms.authentication.status().device
        #expect(status.lock == .unreadable)
        #expect(status.warnings.contains { $0.contains("keybag.quarantined-1") })
        #expect(refusal { _ = try rooms.read("s", "a") } == .stateUnreadable)
        #expect(refusal { try rooms.add("s", "new", "x") } == .stateUnreadable)
        #expect(refusal { try rooms.authentication.setPasscode(secret("a new passcode")) } == .stateUnreadable)
        #expect(!FileManager.default.fileExists(atPath: keybag))
        // Restoring a good copy repairs it.
        _ = try LauncherControl.stop(home: rooms.home)
        try good.write(to: URL(fileURLWithPath: keybag))
        chmod(keybag, 0o600)
        _ = try ServiceStarter.start(rooms.service)
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
        let fresh = KeychainClient(service: rooms.service)
        let freshAuthentication = AuthenticationClient(service: rooms.service)
        let found = refusals(of: [
            { _ = try rooms.read("s", "a") },
            { try rooms.add("s", "b", "x") },
            {
                let value: SecretBytes? = secret("y")
                try fresh.update(Rooms.query("s", "a"), ItemChanges(attributes: ItemAttributes(), hasData: true), secret: value)
            },
            { _ = try rooms.authentication.status() },
            { try freshAuthentication.lock() },
            { _ = try others.read("s", "a") },
        ])
        #expect(found.dropLast() == ArraySlice([Refusal?](repeating: Refusal(.unavailable, "The enclave does not answer"), count: 5)))
        #expect(found.last == Refusal(.unavailable, "The keychain did not answer in time"))
        // Nothing is left of it.
        kill(enclave, SIGCONT)
        kill(keychain, SIGCONT)
        for each in [rooms, others] {
            try retry { _ = try each.read("s", "a") }
            #expect(try each.read("s", "a") == "x")
        }
        _ = try rooms.authentication.status()
    }

    /// Expects that the connection ends, with or without a typed refusal before.
    private func expectEnd(of channel: Channel) throws {
        for _ in 0..<2 {
            do throws(ChannelError) { _ = try channel.receive(.machine) } catch {
                if case .deadline = error { Issue.record("the connection was left open") }
                return
            }
        }
        Issue.record("the connection goes on")
    }

    private func retry(_ body: () throws -> Void) throws {
        let deadline = MachineClock.monotonic + HangLimit.nanoseconds
        while true {
            do { return try body() } catch { if MachineClock.monotonic > deadline { throw error } }
            sched_yield()
        }
    }
}
