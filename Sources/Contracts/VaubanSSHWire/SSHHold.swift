internal import VaubanUserModel

/// The time for which the user's answer to a prompt holds for a key, as the user chose. It is stored as the attribute `gena` of the item of
/// the service `ssh-hold`, a version and the seconds (Specs/ssh-agent.md, "Items").
package struct SSHHold: Hashable, Sendable {
    package static let secondsMax = PromptHold.secondsMax
    private static let version = "1"

    package let seconds: Int64

    /// Returns nil for a time that is not allowed.
    package init?(seconds: Int64) {
        guard (1...Self.secondsMax).contains(seconds) else { return nil }
        self.seconds = seconds
    }

    /// Parses a text such as `1 300`. Returns nil for anything else, such as a later version: then no answer holds.
    package init?(stored: [UInt8]) {
        let words = String(decoding: stored, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0] == Self.version, let seconds = Int64(words[1]), let hold = SSHHold(seconds: seconds),
            hold.stored == stored
        else { return nil }
        self = hold
    }

    package var stored: [UInt8] { Array("\(Self.version) \(seconds)".utf8) }
}
