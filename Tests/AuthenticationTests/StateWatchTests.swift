import Authentication
import EnclaveWire
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAuthenticationWire
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserWire

/// Watchers at the real room: which ones are notified, of what, and what a misbehaving one can do to others.
@Suite struct StateWatchTests {
    private struct Watcher {
        let channel: Channel

        init(_ fixture: RoomFixture) throws { channel = try fixture.connect(.watcher) }

        func next() throws -> EnvironmentNotice { try EnvironmentNotice(derBytes: channel.receive(.after(HangLimit.nanoseconds)).header) }

        /// Ends the watch and returns the notices that had arrived by then.
        func rest() throws -> [EnvironmentNotice] {
            try channel.send(header: UserRequest.status.encoded())
            var notices: [EnvironmentNotice] = []
            while true {
                let notice = try next()
                if case .refused(let refusal) = notice {
                    #expect(refusal.reason == .malformed)
                    return notices
                }
                notices.append(notice)
            }
        }
    }

    private func notify(_ channel: Channel, _ user: UInt32) throws { try channel.send(header: PromptNotice.changed(user: user).encoded()) }

    @Test("A watcher is notified at once and after each change") func watcherIsNotifiedAtOnceAndAfterEachChange() throws {
        let fixture = try RoomFixture()
        let (channel, agent) = try fixture.standingConnection()
        defer { agent.channel.shutDown() }
        let one = try Watcher(fixture)
        let other = try Watcher(fixture)
        for watcher in [one, other] { #expect(try watcher.next() == .changed) }
        try notify(channel, geteuid() + 1)
        try notify(channel, geteuid())
        for watcher in [one, other] { #expect(try watcher.next() == .changed) }
        // It received nothing about the other user.
        #expect(try one.rest().isEmpty)
        try notify(channel, geteuid())
        #expect(try other.next() == .changed)
        #expect(try other.rest().isEmpty)
    }

    @Test("An agent that arrives or ends counts as a change") func promptAgentsCountAsChanges() throws {
        let fixture = try RoomFixture()
        let (_, other) = try fixture.standingConnection()
        defer { other.channel.shutDown() }
        let watcher = try Watcher(fixture)
        #expect(try watcher.next() == .changed)
        let agent = try fixture.agent()
        #expect(try watcher.next() == .changed)
        agent.channel.shutDown()
        #expect(try watcher.next() == .changed)
        #expect(try watcher.rest().isEmpty)
    }

    @Test("Losing and regaining the enclave counts as changes") func enclaveRestartsCountAsChanges() throws {
        let fixture = try RoomFixture()
        let channel = try fixture.enclave.promptConnections.take()
        let watcher = try Watcher(fixture)
        #expect(try watcher.next() == .changed)
        channel.shutDown()
        #expect(try watcher.next() == .changed)
        _ = try fixture.enclave.promptConnections.take()
        #expect(try watcher.next() == .changed)
    }

    /// It has unread notices, which suffices for a watcher; authd does not wait for it.
    @Test("A slow watcher does not block others") func slowWatcherDoesNotBlockOthers() throws {
        let fixture = try RoomFixture()
        let (channel, other) = try fixture.standingConnection()
        defer { other.channel.shutDown() }
        let silent = try Watcher(fixture)
        let watcher = try Watcher(fixture)
        #expect(try watcher.next() == .changed)
        for _ in 0..<20_000 { try notify(channel, geteuid()) }
        let agent = try fixture.agent()
        agent.channel.shutDown()
        var told = 0
        while case .changed? = try? watcher.channel.receive(.after(200_000_000)).header.asNotice { told += 1 }
        #expect(told > 0)
        // It did not need the notices that it missed: it reads some, and then the next one.
        var read = 0
        while case .changed? = try? silent.channel.receive(.after(200_000_000)).header.asNotice { read += 1 }
        #expect(read > 0)
        try notify(channel, geteuid())
        #expect(try silent.next() == .changed)
    }

    @Test("Watchers are limited") func watchersAreLimited() throws {
        let fixture = try RoomFixture()
        let (_, agent) = try fixture.standingConnection()
        defer { agent.channel.shutDown() }
        var watchers: [Watcher] = []
        for _ in 0..<64 {
            watchers.append(try Watcher(fixture))
            #expect(try watchers.last?.next() == .changed)
        }
        guard case .refused(let refusal) = try Watcher(fixture).next() else { Issue.record("one more was taken"); return }
        #expect(refusal.reason == .unavailable)
        // A watcher that disconnects makes room.
        #expect(try watchers.removeLast().rest().isEmpty)
        var next = try Watcher(fixture).next()
        let deadline = MachineClock.monotonic + HangLimit.nanoseconds
        while next != .changed, MachineClock.monotonic < deadline { next = try Watcher(fixture).next() }
        #expect(next == .changed)
    }
}

extension [UInt8] {
    fileprivate var asNotice: EnvironmentNotice? { try? EnvironmentNotice(derBytes: self) }
}
