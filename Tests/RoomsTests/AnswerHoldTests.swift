// Answers that hold for further signatures, with the real rooms and a user whose answers are known.

import Crypto
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeyWire
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

@Suite("Answers that hold", .serialized)
struct AnswerHoldTests {
    private static let control = AccessControlFlags([.privateKeyUsage, .userPresence])

    /// The client, the key, and this process as the program that requests a signature from it.
    private struct Requester {
        let client: KeyClient
        let key: EnclaveKey
        private let connection: Descriptor
        private let other: Descriptor
        private let leader: Descriptor

        init(_ rooms: Rooms, _ flags: AccessControlFlags = AnswerHoldTests.control) throws {
            try rooms.awaitIdentification()
            client = KeyClient(service: rooms.service)
            key = try client.make(.p256, AccessControl(protection: .whenUnlocked, flags: flags))
            var ends: [Int32] = [0, 0]
            try SystemError.check(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends), "make a pair of sockets")
            (connection, other) = (Descriptor(ends[0]), Descriptor(ends[1]))
            try #require(getsid(0) > 0, "The leader of this session is in another PID namespace: run the tests by scripts/with-test-users.")
            leader = try ProcessDescriptor.open(getsid(0))
        }

        static func message(_ namespace: String, _ content: UInt8 = 0) -> [UInt8] {
            Array("SSHSIG".utf8) + [0, 0, 0, UInt8(namespace.utf8.count)] + Array(namespace.utf8) + [content]
        }

        func sign(
            _ message: [UInt8] = Requester.message("git"), holding seconds: Int64 = 300, digest: [UInt8]? = nil,
            leader otherLeader: Descriptor? = nil, through client: KeyClient? = nil
        ) -> Refusal.Reason? {
            let hold = AnswerHold(seconds: seconds, message: message).map {
                KeyHold($0, requester: connection, sessionLeader: otherLeader ?? leader)
            }
            return refusal {
                _ = try (client ?? self.client).use(
                    key, for: .sign, input: digest ?? Array(SHA256.hash(data: message)),
                    prompting: KeyPrompting(reason: "sign a commit", hold: hold))
            }
        }
    }

    @Test("One passcode holds for one purpose until its time is over") func onePasscodeHoldsForOnePurposeUntilItsTimeIsOver() throws {
        let rooms = try Rooms(hasClock: true)
        let clock = try EnclaveClockFile(of: rooms)
        try rooms.setPasscode()
        let requester = try Requester(rooms)
        let user = try rooms.user([.passcode(Rooms.passcode), .cancel, .cancel, .cancel])
        defer { user.leave() }
        for content: UInt8 in 0..<20 { #expect(requester.sign(Requester.message("git", content)) == nil) }
        #expect(user.requests.count == 1)
        let hold = try #require(user.requests.first?.hold)
        #expect(hold.seconds == 300 && hold.namespace == "git" && hold.program.pid == Int64(getpid()))
        #expect(user.requests.first?.operation == .sign)
        #expect(requester.sign(Requester.message("file")) == .cancelled)
        // An answer cannot hold for a login, and no digest is accepted as that of another message.
        #expect(requester.sign([0, 0, 0, 32] + [UInt8](repeating: 1, count: 60)) == .cancelled)
        #expect(user.requests.count == 3 && user.requests.last?.hold == nil)
        #expect(requester.sign(digest: [UInt8](repeating: 1, count: 32)) == .badParameter)
        try clock.advance(seconds: 200)
        #expect(requester.sign() == nil && user.requests.count == 3)
        // A use does not prolong it.
        try clock.advance(seconds: 101)
        #expect(requester.sign() == .cancelled && user.requests.count == 4)
    }

    @Test("An answer that holds ends with a lock and with a change of the passcode")
    func answerEndsWithALockAndWithAChangeOfThePasscode() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let requester = try Requester(rooms)
        let user = try rooms.user([
            .passcode(Rooms.passcode), .passcode(Rooms.passcode), .passcode("another one"), .cancel, .cancel,
        ])
        defer { user.leave() }
        #expect(requester.sign() == nil && requester.sign() == nil && user.requests.count == 1)
        try rooms.authentication.lock()
        #expect(requester.sign() == .locked)
        try rooms.unlock()
        #expect(requester.sign() == nil && requester.sign() == nil && user.requests.count == 2)
        try rooms.authentication.changePasscode(from: secret(Rooms.passcode), to: secret("another one"))
        #expect(requester.sign() == nil && requester.sign() == nil && user.requests.count == 3)
        // The answer holds on the connection over which it was given.
        #expect(requester.sign(through: KeyClient(service: rooms.service)) == .cancelled)
        let own = try ProcessDescriptor.ofSelf()
        #expect(requester.sign(leader: own) == (getsid(0) == getpid() ? nil : .cancelled))
        #expect(requester.sign() == nil)
    }

    /// A touch is not bound to the content of the prompt.
    @Test("A fingerprint approves one signature only") func fingerprintApprovesOneSignature() throws {
        let known = try RoomsWithFinger()
        let requester = try Requester(known.rooms)
        let user = try known.rooms.user([.silence, .silence, .passcode(Rooms.passcode)])
        defer { user.leave() }
        known.reader.expect(.match, .match, .nothing)
        for count in 1...3 {
            #expect(requester.sign() == nil)
            // A fingerprint may be faster than the agent.
            try awaitTrue("the prompt") { user.requests.count == count }
        }
        #expect(requester.sign() == nil && user.requests.count == 3)
    }
}
