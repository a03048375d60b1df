import EnclaveWire
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

/// An enclave that does not answer, and the callers that wait for it through keychaind (Specs/connections.md, Specs/keychain-wire.md).
@Suite struct SilentEnclaveTests {
    private static let silent = KeychainReply.refused(Refusal(.unavailable, "The enclave does not answer"))

    private func ask(_ request: KeychainRequest, over channel: Channel) throws -> KeychainReply {
        try channel.send(header: try request.encoded())
        return try reply(channel)
    }

    private func reply(_ channel: Channel) throws -> KeychainReply {
        try KeychainReply(derBytes: try channel.receive(.after(HangLimit.nanoseconds)).header)
    }

    // MARK: Identification, in system mode

    @Test("A caller whom the enclave does not identify is told so in the reply to its first request, and served when it connects again")
    func unidentifiedCallerIsTold() throws {
        let rooms = try Rooms(identifies: true)
        for identification in [EnclaveServer.Identification.end, .silence, .answer(.refused(Refusal(.unavailable)))] {
            rooms.enclave.identification.withLock { $0 = identification }
            let channel = try rooms.client()
            guard case .refused(let refusal) = try ask(.ownRights, over: channel) else { throw Refusal(.internalError) }
            #expect(refusal.reason == .unavailable)
            if case .answer = identification {} else { #expect(.refused(refusal) == Self.silent) }
            // The connection is not that of a known program.
            #expect(throws: ChannelError.self) { _ = try ask(.ownRights, over: channel) }
        }
        let identity = CallerIdentity(.own, executable: Callers.executable("/home/a/x"), chain: ["/home/a/x"])
        rooms.enclave.identification.withLock { $0 = .answer(.identity(identity)) }
        let channel = try rooms.client()
        var last = try ask(.ownRights, over: channel)
        // A slow machine may say first that the request goes on.
        while last == .queued { last = try reply(channel) }
        guard case .ownRights = last else { throw Refusal(.internalError) }
    }

    @Test("A caller about whom the enclave says something else is sent nothing") func contradictionIsNoSilence() throws {
        let rooms = try Rooms(identifies: true)
        for reply in [EnclaveReply.done, .refused(Refusal(.badParameter)), .refused(Refusal(.malformed))] {
            rooms.enclave.identification.withLock { $0 = .answer(reply) }
            #expect(throws: HandshakeError.self) { _ = try rooms.client() }
        }
    }

    // MARK: The time after a reply

    @Test("If the thread of a connection was busy after a reply, the next request is told at once that it goes on")
    func nextRequestIsTold() throws {
        let clock = Mutex<(now: UInt64, step: UInt64)>((0, 0))
        let rooms = try Rooms(clock: {
            clock.withLock {
                $0.now += $0.step
                return $0.now
            }
        })
        let channel = try rooms.client()
        func examineRights() throws -> [KeychainReply] {
            var replies = [try ask(.ownRights, over: channel)]
            while let last = replies.last, last != .done { replies.append(try reply(channel)) }
            return replies
        }
        // By the real clock, a request itself reports that it goes on if a busy machine takes two seconds for it.
        func examineRights(isTold: Bool, sourceLocation: SourceLocation = #_sourceLocation) throws {
            let began = MachineClock.monotonic
            let replies = try examineRights()
            guard MachineClock.monotonic - began < KeychainLimits.silenceMax else { return }
            #expect(replies.count == (isTold ? 3 : 2), sourceLocation: sourceLocation)
            #expect((replies.first == .queued) == isTold, sourceLocation: sourceLocation)
        }
        try examineRights(isTold: false)
        try examineRights(isTold: false)
        // Now each look at the clock is two seconds after the last. The connection's last look at it may come before or after this.
        clock.withLock { $0.step = KeychainLimits.silenceMax }
        _ = try examineRights()
        try examineRights(isTold: true)
        try examineRights(isTold: true)
        // One request for another program takes the connection away, and has one reply.
        #expect(try ask(.handOver, over: channel) != .queued)
        clock.withLock { $0.step = 0 }
        _ = try examineRights()
        try examineRights(isTold: false)
    }
}
