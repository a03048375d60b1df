import Testing
import VaubanKeyWire
import VaubanUserModel

/// The messages for which an answer may hold.
@Suite struct AnswerHoldTests {
    private static func message(_ namespace: [UInt8], count: Int? = nil, beginning: String = "SSHSIG", rest: Int = 4) -> [UInt8] {
        let count = count ?? namespace.count
        return Array(beginning.utf8) + [0, 0, UInt8(count >> 8), UInt8(count & 255)] + namespace + [UInt8](repeating: 1, count: rest)
    }

    @Test("The namespace is read from the message") func namespaceIsReadFromTheMessage() {
        for namespace in ["git", "file", "a@b.example", "ä", String(repeating: "x", count: PromptHold.namespaceBytesMax)] {
            #expect(AnswerHold(seconds: 1, message: Self.message(Array(namespace.utf8)))?.namespace == namespace)
        }
    }

    @Test("An answer holds only for messages with a namespace, and not for logins or other data")
    func otherDataIsRefused() {
        let git = Array("git".utf8)
        let others: [[UInt8]] = [
            [], Array("SSHSIG".utf8), Self.message([]), Self.message(git, beginning: "SSHSIF"), Self.message(git, rest: 0),
            Self.message(git, count: 4, rest: 0), Self.message([0x67, 0, 0x74]), Self.message([0xFF, 0xFE]),
            Self.message([UInt8](repeating: 0x78, count: PromptHold.namespaceBytesMax + 1)),
            Self.message(git, rest: AnswerHold.messageBytesMax), [0, 0, 0, 32] + [UInt8](repeating: 1, count: 60),
            [0, 0, 0, 6] + Self.message(git),
        ]
        for other in others { #expect(AnswerHold(seconds: 1, message: other) == nil, "\(other.prefix(16))") }
        for seconds: Int64 in [0, -1, PromptHold.secondsMax + 1] {
            #expect(AnswerHold(seconds: seconds, message: Self.message(git)) == nil)
        }
    }
}
