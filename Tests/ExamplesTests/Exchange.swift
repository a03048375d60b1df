import Foundation
import TestSupport
import Testing

/// A relying party and the user's device, and the two messages between them as files, so that these can be altered on the way.
struct Exchange {
    static let factor = Program("SecondFactor")
    let device: Device

    init() throws {
        device = try Device()
        try device.setPasscode()
    }

    /// What a test reads of a challenge.
    struct Fields: Decodable {
        let nonce: String
        let statement: String
    }

    /// The fields of the challenge as the device gets it.
    var fields: Fields { get throws { try JSONDecoder().decode(Fields.self, from: Data(device.read("challenge").utf8)) } }

    func party(_ words: String..., input: String = "") -> Command { party(words, input: input) }

    private func party(_ words: [String], input: String = "") -> Command {
        Program("RelyingParty").command([device.path("party")] + words, input: input)
    }

    /// The relying party requests approval within these seconds, or within its usual time; the challenge becomes a file.
    func ask(_ statement: String, seconds: String? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let words = ["ask", "anna", statement] + (seconds.map { [$0] } ?? [])
        let asked = try device.check("the relying party asks", party(words), says: statement, sourceLocation: sourceLocation)
        try device.write(asked.out, to: "challenge")
    }

    /// The device approves the challenge; the response becomes a file.
    var approving: Command { Self.factor("approve", from: device.path("challenge"), to: device.path("response")) }

    /// The user of a device, of this one if none is named, is shown the statement of the challenge and enters the passcode.
    func approve(_ what: String, on other: Device? = nil, says text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let steps = ExamplesTests.passcode(
            "expect Program:  SecondFactor", "expect Message:  “example.org: \(try fields.statement)”")
        try (other ?? device).user(what, approving, says: text, steps: steps, sourceLocation: sourceLocation)
    }

    /// The relying party verifies the response.
    func verify(
        _ what: String, exits status: Int32 = 0, says text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let response = try device.read("response").trimmingCharacters(in: .newlines)
        try device.check(what, party("verify", input: response), exits: status, says: text, sourceLocation: sourceLocation)
    }
}
