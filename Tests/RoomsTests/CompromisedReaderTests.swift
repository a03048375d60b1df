// Messages of a reader that do not match what happened. Each is sent to the enclave's real socket; none opens anything.

import EnclaveWire
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

@Suite("False reports of a reader")
struct CompromisedReaderTests {
    enum FalseReport: CaseIterable {
        case anotherNonce, anotherUser, replayed, zeroNonce, enrolledForMatched
    }

    /// The false message comes first, then an honest miss: once that was handled, the false one was.
    @Test("An authenticated false report of a reader opens nothing", arguments: FalseReport.allCases)
    func authenticatedFalseReportOpensNothing(_ report: FalseReport) throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        let user = try rooms.user([.silence, .silence, .cancel])
        defer { user.leave() }
        reader.expect(.match)
        #expect(try rooms.read("s", "p") == "guarded")
        let earlier = try #require(reader.reported.last { $0.outcome == .matched })

        reader.expect(
            .messages { honest, seal in
                let word =
                    switch report {
                    case .anotherNonce: honest.with(nonce: [UInt8](repeating: 7, count: 32))
                    case .anotherUser: honest.with(user: honest.user + 1)
                    case .replayed: earlier
                    case .zeroNonce: honest.with(nonce: [UInt8](repeating: 0, count: 32))
                    case .enrolledForMatched: honest.with(outcome: .enrolled)
                    }
                return [seal(word), seal(honest.with(outcome: .missed))]
            }, .miss, .miss, .miss)
        #expect(refusal { _ = try rooms.read("s", "p") } == .cancelled)
        try user.awaitPrompts(offering: [[.passcode, .finger], [.passcode, .finger], .passcode])
    }

    @Test("An unauthenticated report ends the reader's connection and opens nothing", .proves("C-094"))
    func unauthenticatedReportEndsTheConnectionAndOpensNothing() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        try rooms.addGuarded("any", .biometryAny)
        let user = try rooms.user([.silence, .cancel, .silence, .silence])
        defer { user.leave() }
        // "Yes" alone is not a key: as a plain message, and with one bit of the code changed.
        reader.expect(.messages { honest, _ in [honest] })
        #expect(refusal { _ = try rooms.read("s", "p") } == .cancelled)
        try awaitTrue("the end of the connection") { reader.endedConnections == 1 }
        try reader.connect()
        try rooms.awaitReader(isThere: true)
        reader.expect(
            .messages { honest, seal in
                let right = seal(honest)
                return [right.with(code: [right.code[0] ^ 1] + right.code.dropFirst())]
            })
        #expect(refusal { _ = try rooms.read("s", "any") } == .biometryNotAvailable)
        // The correct message for this one prompt releases the secret.
        try awaitTrue("the end of the connection") { reader.endedConnections == 2 }
        try reader.connect()
        try rooms.awaitReader(isThere: true)
        reader.expect(.match)
        #expect(try rooms.read("s", "any") == "guarded")
    }

    /// A reader without a key gets a new one; messages under the first are refused from then on.
    @Test("A replaced reader is paired again, and reports under the old key are refused")
    func replacedReaderIsPairedAgainAndItsOldReportsAreRefused() throws {
        let known = try RoomsWithFinger()
        let (rooms, old) = (known.rooms, known.reader)
        try rooms.addGuarded("any", .biometryAny)
        let young = try rooms.reader()
        try awaitTrue("the end of the old connection") { old.endedConnections == 1 }
        let user = try rooms.user([.silence])
        defer { user.leave() }
        young.expect(.messages { honest, _ in [old.seal(honest)] })
        #expect(refusal { _ = try rooms.read("s", "any") } == .biometryNotAvailable)
        // When it returns with its old key, it is greeted as paired, and still refused.
        try old.connect()
        try rooms.awaitReader(isThere: true)
        old.expect(.match)
        let another = try rooms.user([.silence])
        defer { another.leave() }
        #expect(refusal { _ = try rooms.read("s", "any") } == .biometryNotAvailable)
    }

    /// A message without a request is ignored, even if it is correct.
    @Test("A report that was not requested is ignored") func unrequestedReportIsIgnored() throws {
        let known = try RoomsWithFinger(unlocks: true)
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.authentication.lock()
        try awaitTrue("the reader holding") { reader.held[geteuid()] != nil }
        for nonce in [[UInt8](repeating: 0, count: 32), [UInt8](repeating: 1, count: 32)] {
            try reader.report(ReaderVerdict(outcome: .matched, user: geteuid(), nonce: nonce, fingers: [UInt8](repeating: 0xF1, count: 32)))
        }
        try reader.sensor(isPresent: false)
        try rooms.awaitReader(isThere: false)
        #expect(try rooms.authentication.status().device.lock == .locked)
        try reader.sensor(isPresent: true)
        try rooms.awaitReader(isThere: true)
        // Nor does a wrong key in place of the one to be held.
        reader.forgeHeld(of: geteuid())
        reader.expect(.match)
        #expect(refusal { try rooms.authentication.unlockByFinger() } == .biometryLockedOut)
        #expect(try rooms.authentication.status().device.lock == .locked)
    }

    /// Only the reader's user may be the reader, and the role is one of several: connections of another role have no such messages.
    @Test("A reader's report on a connection of another role ends that connection") func reportFromAnotherRoleEndsItsConnection() throws {
        let known = try RoomsWithFinger()
        let rooms = known.rooms
        let address = ServerAddress(folder: rooms.service.sockets, socket: "enclave", serverUID: rooms.service.enclaveUID)
        for role in [EnclaveRole.keychain, .authentication, .prompts, .witness, .watcher, .lease] {
            let channel = try address.connect(role: role.rawValue, within: HangLimit.nanoseconds)
            let word = ReaderVerdict(
                outcome: .matched, user: geteuid(), nonce: [UInt8](repeating: 1, count: 32), fingers: [UInt8](repeating: 0xF1, count: 32))
            try channel.send(header: try ReaderReport.verdict(word).encoded())
            var isEnded = false
            for _ in 0..<3 where !isEnded {
                do throws(ChannelError) { _ = try channel.receive(.after(HangLimit.nanoseconds)) } catch {
                    if case .deadline = error { Issue.record("the line of \(role) was left open") }
                    isEnded = true
                }
            }
            #expect(isEnded)
        }
        try awaitTrue("the reader still there") { try rooms.biometry.readerIsPresent }
    }
}

extension ReaderVerdict {
    func with(outcome: Outcome? = nil, user: UInt32? = nil, nonce: [UInt8]? = nil, code: [UInt8]? = nil) -> ReaderVerdict {
        ReaderVerdict(
            outcome: outcome ?? self.outcome, user: user ?? self.user, nonce: nonce ?? self.nonce, fingers: fingers,
            code: code ?? self.code)
    }
}
