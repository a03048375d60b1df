// The messages between a relying party and a second factor: a challenge and a response, each one line of JSON.
import Foundation

/// What the user is to approve once, and until when. The second factor shows `statement` and signs all fields, so that a signature is
/// useless for another statement, user, relying party or time.
public struct Challenge: Codable, Sendable {
    public let relyingParty: String
    public let user: String
    public let statement: String
    /// 32 random bytes in hexadecimal digits, never reused. They also identify the challenge.
    public let nonce: String
    /// Seconds since 1970.
    public let expires: Int

    /// Creates a challenge; nil if a field cannot be shown on one line.
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

    /// The signed bytes: one field per line. No field contains a line break, so different challenges have different bytes.
    public var signedBytes: Data {
        Data(["org.example.approval 1", relyingParty, user, nonce, "\(expires)", statement].joined(separator: "\n").utf8)
    }

    /// The reason for the prompt. It must be shown in full, so a challenge that is too long is rejected.
    public var shown: String { "\(relyingParty): \(statement)" }
    private static let shownCharactersMax = 200

    private var isPlain: Bool {
        shown.count <= Self.shownCharactersMax && [relyingParty, user, nonce, statement].allSatisfy(\.isPlain)
    }
}

extension String {
    /// Whether the text hides nothing: no control, format or private characters, no invisible ones, and only single spaces between words.
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

/// The approved challenge, identified by its nonce, and the proof. The relying party has the statement, so it is not repeated.
public struct Response: Codable, Sendable {
    public let nonce: String
    /// ECDSA over P-256 and SHA-256 of `Challenge.signedBytes`, in X9.62 form.
    public let signature: Data

    public init(nonce: String, signature: Data) {
        self.nonce = nonce
        self.signature = signature
    }
}

extension Encodable {
    /// The response as one line of JSON.
    public var line: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
