// keychaind's socket, its connections to the enclave, and their failures, over real sockets.

import EnclaveWire
import Foundation
import Glibc
import Keychain
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

@Suite struct KeychainConnectionTests {
    private let item = ItemAttributes([.account: .text("a"), .service: .text("s")])

    private var get: [UInt8] {
        get throws {
            var query = ItemQuery(kind: .genericPassword, attributes: item)
            query.returns.insert(.data)
            return try KeychainRequest.copyMatching(query).encoded()
        }
    }

    /// Returns the next message that does more than report progress, which keychaind does if a busy machine takes two seconds for a part of
    /// a request.
    private func message(_ channel: Channel) throws -> Message {
        while true {
            let message = try channel.receive(.after(HangLimit.nanoseconds))
            if try KeychainReply(derBytes: message.header) != .queued { return message }
        }
    }

    private func reply(_ channel: Channel) throws -> KeychainReply { try KeychainReply(derBytes: try message(channel).header) }

    private func store(_ value: String, over channel: Channel, control: AccessControl? = nil) throws {
        let record = ItemRecord(kind: .genericPassword, attributes: item, accessControl: control)
        try channel.send(
            header: try KeychainRequest.add(record, returns: [], hasData: true).encoded(), secret: SecretBytes(Array(value.utf8)))
        #expect(try reply(channel) == .done)
    }

    private func read(over channel: Channel) throws -> String? {
        try channel.send(header: try get)
        while true {
            let message = try message(channel)
            switch try KeychainReply(derBytes: message.header) {
            case .waitingForUser, .queued, .rewrapped, .permissions, .examined, .restorable, .handedOver, .version, .deleted,
                .keepsHistory,
                .cleared, .ownRights, .backup, .sync, .accessLog, .lastUses, .logHead, .canaryAlerts:
                continue
            case .items:
                let value = message.secret?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                guard try reply(channel) == .done else { return nil }
                return value
            case .refused(let refusal): throw refusal
            case .done: return nil
            }
        }
    }

    @Test("A value is stored and returned") func valueIsStoredAndReturned() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        try store("s3cret", over: channel)
        #expect(try read(over: channel) == "s3cret")
        #expect(try read(over: rooms.client()) == "s3cret")
    }

    /// Value and password arrive in one section, and the enclave receives the password alone.
    @Test("A value and a password come in one section, and the enclave gets the password alone") func passwordFollowsTheValue() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        let control = try AccessControl(protection: .whenUnlocked, flags: .applicationPassword)
        let record = ItemRecord(kind: .genericPassword, attributes: item, accessControl: control)
        let add = KeychainRequest.add(record, returns: [], hasData: true, passwordBytes: 4)
        try channel.send(header: try add.encoded(), secret: SecretBytes(Array("s3cretpass".utf8)))
        #expect(try reply(channel) == .done)
        #expect(Refusal.Reason.of { _ = try read(over: channel) } == .cancelled)
        var query = ItemQuery(kind: .genericPassword, attributes: item)
        query.returns.insert(.data)
        let request = try KeychainRequest.copyMatching(query, passwordBytes: 4).encoded()
        try channel.send(header: request, secret: SecretBytes(Array("pass".utf8)))
        let found = try message(channel)
        #expect(found.secret?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == "s3cret")
        #expect(try reply(channel) == .done)
        // A section that is longer than the request announces ends the connection.
        try channel.send(header: request, secret: SecretBytes(Array("password".utf8)))
        guard case .refused(let refusal) = try reply(channel) else { Issue.record("not refused"); return }
        #expect(refusal.reason == .malformed)
        #expect(throws: ChannelError.self) { _ = try channel.receive(.machine) }
    }

    @Test("A malformed message ends only its connection") func malformedMessageEndsOnlyItsConnection() throws {
        let rooms = try Rooms()
        let good = try rooms.client()
        try store("v", over: good)
        let request = try get
        let messages: [[UInt8]] = [[0x30, 0x80], request + [0], Array(request.dropLast()), [0x05, 0x00], [0x30, 0x03, 0x02, 0x01, 0x02]]
        for message in messages {
            let bad = try rooms.client()
            try bad.send(header: message)
            guard case .refused(let refusal) = try reply(bad) else { Issue.record("not refused"); continue }
            #expect(refusal.reason == .malformed)
            #expect(throws: ChannelError.self) { _ = try bad.receive(.machine) }
        }
        let withDescriptor = try rooms.client()
        try withDescriptor.send(header: request, descriptors: [try ProcessDescriptor.ofSelf()])
        guard case .refused(let refusal) = try reply(withDescriptor) else { Issue.record("not refused"); return }
        #expect(refusal.reason == .malformed)
        let withValue = try rooms.client()
        try withValue.send(header: request, secret: SecretBytes([1]))
        guard case .refused(let second) = try reply(withValue) else { Issue.record("not refused"); return }
        #expect(second.reason == .malformed)
        #expect(try read(over: good) == "v")
    }

    @Test("An unknown request is refused, and the connection stays") func unknownRequestIsRefusedAndConnectionStays() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        try store("v", over: channel)
        // version 1, call [30] {}
        try channel.send(header: [0x30, 0x05, 0x02, 0x01, 0x01, 0xBE, 0x00])
        guard case .refused(let refusal) = try reply(channel) else { Issue.record("not refused"); return }
        #expect(refusal.reason == .unknownRequest)
        #expect(refusal.detail?.contains("30") == true)
        #expect(try read(over: channel) == "v")
    }

    @Test("A broken connection to the enclave is established again") func brokenEnclaveConnectionIsReestablished() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        try store("v", over: channel)
        rooms.enclave.cut(.keychain)
        #expect(try read(over: channel) == "v")
        rooms.enclave.cut(.lease)
        #expect(try read(over: channel) == "v")
        rooms.enclave.cut(.keychain)
        rooms.enclave.cut(.lease)
        #expect(try read(over: channel) == "v")
    }

    @Test("A caller is notified that it waits for the user") func callerIsNotifiedThatItWaitsForUser() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        try store("v", over: channel, control: AccessControl(protection: .whenUnlocked, flags: .userPresence))
        rooms.enclave.waits.withLock { $0 = true }
        try channel.send(header: try get)
        #expect(try reply(channel) == .waitingForUser("vauban approve"))
        rooms.enclave.answer.signal()
        guard case .items = try reply(channel) else { Issue.record("no item"); return }
        #expect(try reply(channel) == .done)
    }

    @Test("Hanging up ends the prompt") func hangingUpEndsThePrompt() throws {
        let rooms = try Rooms()
        var channel: Channel? = try rooms.client()
        try store("v", over: try #require(channel), control: AccessControl(protection: .whenUnlocked, flags: .userPresence))
        rooms.enclave.waits.withLock { $0 = true }
        try channel?.send(header: try get)
        #expect(try reply(try #require(channel)) == .waitingForUser("vauban approve"))
        channel = nil
        // The fake enclave signals when keychaind closes the connection of the prompt.
        #expect(rooms.enclave.promptEnded.wait(timeout: .now() + HangLimit.seconds) == .success)
    }

    @Test("A recall erases keys before its reply") func recallErasesKeysBeforeReply() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        try store("v", over: channel)
        let erased = try rooms.enclave.lock()
        #expect(erased == LeaseErased(user: getuid(), epoch: 1))
        #expect(rooms.leasedKeys.currentGeneration(of: .metadata(.whenUnlocked), user: getuid()) == nil)
        #expect(Refusal.Reason.of { _ = try read(over: channel) } == .locked)
    }

    @Test("keychaind confirms and logs notices of key uses, between recalls")
    func keyUsesAreConfirmed() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        try store("v", over: channel)
        let use = CountedKeyUse(
            key: UsedKey(digest: [UInt8](repeating: 1, count: 32), label: [UInt8](repeating: 2, count: 20)), action: .signed,
            outcome: .done, count: 12)
        let notice = KeyUseNotice(user: getuid(), identity: nil, teamIsTrusted: false, uses: [use])
        for _ in 0..<2 { #expect(try rooms.enclave.deliver(notice) == KeyUsesNoted()) }
        try channel.send(header: try KeychainRequest.accessLog(AccessLogQuery()).encoded())
        guard case .accessLog(let page) = try reply(channel) else { throw Refusal(.internalError) }
        let signed = page.records.compactMap(\.record).filter { $0.action == .signed }
        #expect(signed.flatMap(\.items).reduce(0) { $0 + $1.count } == 24)
        #expect(try reply(channel) == .done)
        #expect(try rooms.enclave.lock() == LeaseErased(user: getuid(), epoch: 1))
    }
}
