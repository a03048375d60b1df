// What a relying party and a second factor say to each other: a challenge there, a response back, each one line of JSON.
import Foundation

/// What somebody is to approve, once, and until when. The factor shows `statement` and signs all of it, so that a signature is worth
/// nothing for another statement, another user, another relying party or another time.
public struct Challenge: Codable, Sendable {
    public let relyingParty: String
    public let user: String
    public let statement: String
    /// 32 random bytes in hexadecimal digits, never given twice: the challenge's name as well.
    public let nonce: String
    /// Seconds since 1970.
    public let expires: Int

    /// Nil where a word is none that a user could be shown on one line.
    public init?(relyingParty: String, user: String, statement: String, nonce: String, expires: Int) {
        self.relyingParty = relyingParty
        self.user = user
        self.statement = statement
        self.nonce = nonce
        self.expires = expires
        guard isPlain else { return nil }
    }

    public static func read(_ line: Data) -> Challenge? {
        guard let challenge = try? JSONDecoder().decode(Challenge.self, from: line), challenge.isPlain else { return nil }
        return challenge
    }

    /// One field on each line. No field has line ends, so there are no two challenges with the same bytes.
    public var signedBytes: Data {
        Data(["org.example.approval 1", relyingParty, user, nonce, "\(expires)", statement].joined(separator: "\n").utf8)
    }

    /// What the user is shown as the reason, all of it: a longer one would be cut off on the screen.
    public var shown: String { "\(relyingParty): \(statement)" }
    private static let shownCharactersMax = 200

    private var isPlain: Bool {
        shown.count <= Self.shownCharactersMax && [relyingParty, user, nonce, statement].allSatisfy(\.isPlain)
    }
}

extension String {
    /// A line on which nothing is hidden: no control, format or private characters, none that draws nothing, and no spaces but single ones
    /// between words.
    fileprivate var isPlain: Bool {
        (1...300).contains(utf8.count) && !hasPrefix(" ") && !hasSuffix(" ") && !contains("  ")
            && unicodeScalars.allSatisfy { scalar in
                let properties = scalar.properties
                let hidden: [Unicode.GeneralCategory] = [
                    .control, .format, .privateUse, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator,
                ]
                return !hidden.contains(properties.generalCategory) && !properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}"
                    && (!properties.isWhitespace || scalar == " ")
            }
    }
}

/// Which challenge was approved, and the proof. What it says is the relying party's own, so none of it comes back.
public struct Response: Codable, Sendable {
    public let nonce: String
    /// ECDSA over P-256 and SHA-256 of `Challenge.signedBytes`, X9.62.
    public let signature: Data

    public init(nonce: String, signature: Data) {
        self.nonce = nonce
        self.signature = signature
    }
}

extension Encodable {
    /// One line of JSON.
    public var line: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
