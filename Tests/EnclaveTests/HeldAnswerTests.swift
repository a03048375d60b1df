import Enclave
import Foundation
import Testing
import VaubanAccessPolicy
import VaubanKeyWire
import VaubanLinuxHost
import VaubanUserModel

/// Which signatures an answer that holds covers. The evidence is a name here.
@Suite("Answers that hold") struct HeldAnswerTests {
    private static func octets(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
    private static let keygen = ApplicationIdentifier.installed(path: "/usr/bin/ssh-keygen")
    private let leader: Descriptor

    init() throws { leader = try ProcessDescriptor.ofSelf() }

    private static func key(_ identifier: UInt8) throws -> EnclaveKey {
        EnclaveKey(
            kind: .p256, user: 1000, identifier: octets(identifier, 16),
            control: try AccessControl(protection: .whenUnlocked, flags: [.privateKeyUsage, .userPresence]), publicKey: octets(4, 65),
            generation: octets(3, 8), wrapped: octets(5, 60))
    }

    private func scope(
        key: UInt8 = 1, _ namespace: String = "git", _ program: ApplicationIdentifier = Self.keygen, session: Int32 = 7,
        leader: Descriptor? = nil
    ) throws -> HeldAnswerScope {
        HeldAnswerScope(
            key: try Self.key(key), namespace: namespace, program: program, session: session, leader: leader ?? self.leader)
    }

    @Test("An answer that holds covers its key, purpose, program and session alone")
    func answerCoversItsKeyPurposeProgramAndSessionAlone() throws {
        var held = HeldAnswers<String>()
        held.keep("typed", for: try scope(), until: 100)
        #expect(held.evidence(for: try scope(), at: 1) == "typed")
        let others = [
            try scope(key: 2), try scope("file"), try scope("git\u{301}"), try scope("gi"),
            try scope("git", .installed(path: "/usr/bin/a")),
            try scope("git", .build(digest: Self.octets(1, 32))), try scope(session: 8),
        ]
        for other in others { #expect(held.evidence(for: other, at: 1) == nil) }
        #expect(held.evidence(for: try scope(), at: 1) == "typed")
    }

    @Test("An answer that holds ends with its time and is erased") func answerEndsWithItsTimeAndIsErased() throws {
        var held = HeldAnswers<String>()
        held.keep("first", for: try scope(), until: 100)
        held.keep("second", for: try scope("file"), until: 200)
        #expect(held.nextEnd == 100)
        #expect(held.evidence(for: try scope(), at: 99) == "first")
        #expect(held.evidence(for: try scope(), at: 100) == nil)
        #expect(held.count == 1 && held.nextEnd == 200)
        held.removeAll()
        #expect(held.evidence(for: try scope("file"), at: 101) == nil)
        #expect(held.nextEnd == nil)
    }

    @Test("A later answer replaces an earlier one, and the oldest is dropped at the limit")
    func laterAnswerReplacesAnEarlierOneAndTheOldestIsDropped() throws {
        var held = HeldAnswers<String>()
        for end: UInt64 in [100, 200] { held.keep("until \(end)", for: try scope(), until: end) }
        #expect(held.count == 1)
        #expect(held.evidence(for: try scope(), at: 150) == "until 200")
        for index in 0..<EnclaveLimits.heldAnswersMax { held.keep("\(index)", for: try scope("purpose \(index)"), until: 300) }
        #expect(held.count == EnclaveLimits.heldAnswersMax)
        #expect(held.evidence(for: try scope(), at: 150) == nil)
        #expect(held.evidence(for: try scope("purpose 0"), at: 150) == "0")
    }

    /// The number of a session can be reused when its processes have ended.
    @Test("An answer that holds ends with the process that leads the session") func answerEndsWithTheProcessThatLeadsTheSession() throws {
        // Waits for its input, which is this test's end of a pipe.
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/bin/cat")
        child.standardInput = Pipe()
        try child.run()
        let other = try ProcessDescriptor.open(child.processIdentifier)
        var held = HeldAnswers<String>()
        held.keep("typed", for: try scope(leader: other), until: 100)
        #expect(held.evidence(for: try scope(leader: other), at: 1) == "typed")
        // The runner of the tests may have blocked the other signals that end a process.
        kill(child.processIdentifier, SIGKILL)
        child.waitUntilExit()
        #expect(held.evidence(for: try scope(leader: other), at: 1) == nil)
        // The descriptor of the process is not held any longer either.
        #expect(held.count == 0)
        #expect(held.evidence(for: try scope(), at: 1) == nil)
    }
}
