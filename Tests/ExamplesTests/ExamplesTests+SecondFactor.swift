import Foundation
import TestSupport
import Testing

extension ExamplesTests {
    @Test(
        "SecondFactor approves the requests of RelyingParty, and nothing else is accepted as an approval",
        .proves("C-136", "C-170", "C-172", "C-173", "C-174"))
    func secondFactor() throws {
        let exchange = try Exchange()
        try enrolling(exchange)
        try approving(exchange)
        try altering(exchange)
        try onAnotherDevice(exchange)
        try exchange.device.check("forget deletes the key", Exchange.factor("forget", "anna"), says: "Forgotten.")
        try exchange.ask("transfer 40 € to bert")
        try exchange.device.check(
            "and nothing can be approved any more", exchange.approving, exits: 1, says: "There is no key of anna here")
    }

    private func enrolling(_ exchange: Exchange) throws {
        let device = exchange.device
        let enrolled = try device.check(
            "enroll creates a key and says why the passcode replaces a finger", Exchange.factor("enroll", "anna"),
            says: "The passcode will do in place of a finger: No fingerprint reader is available")
        try device.check(
            "the relying party records the public key", exchange.party("enroll", "anna", "transfer", input: enrolled.key),
            says: "Enrolled: anna")
        try device.check(
            "and does not replace it by another", exchange.party("enroll", "anna", "transfer", input: enrolled.key), exits: 1,
            says: "enrolled already")
        try device.check(
            "and refuses what is no key", exchange.party("enroll", "bert", "transfer", input: "bm8ga2V5"), exits: 1, says: "no public key")
        try device.check(
            "it asks nobody who is not enrolled", exchange.party("ask", "bert", "transfer 40 € to anna"), exits: 1,
            says: "nobody of this name")
        let long = "transfer 40 € to bert for \(String(repeating: "x", count: 200)) and 4000 to mallory"
        try device.check(
            "it refuses a statement that no screen would show whole", exchange.party("ask", "anna", long), exits: 1, says: "statement")
        try device.check(
            "it refuses a statement that reverses the direction of text",
            exchange.party("ask", "anna", "transfer 40 € to \u{202E}treb"), exits: 1, says: "statement")
    }

    private func approving(_ exchange: Exchange) throws {
        try exchange.ask("transfer 40 € to bert")
        try exchange.device.check("nothing is signed without a prompt agent", exchange.approving, exits: 1, says: "Status code -25308")
        try exchange.approve("the prompt shows the statement to approve", says: "transfer 40 €")
        try exchange.verify("the relying party accepts the response", says: "Approved by anna: transfer 40 € to bert")
        try exchange.verify("only once", exits: 1, says: "answered already")
    }

    private func altering(_ exchange: Exchange) throws {
        let old = try (exchange.fields.nonce, exchange.device.read("response"))
        try exchange.ask("transfer 40 € to bert")
        try exchange.device.user(
            "the user can refuse", exchange.approving, exits: 1, says: "Status code -2:", steps: Self.refusal)
        let new = try exchange.fields.nonce
        #expect(old.1.contains(old.0) && new != old.0)
        try exchange.device.write(old.1.replacing(old.0, with: new), to: "response")
        try exchange.verify("an old signature does not answer a new challenge for the same", exits: 1, says: "the signature is not")

        try exchange.ask("transfer 40 € to bert")
        try exchange.device.write(exchange.device.read("challenge").replacing("transfer 40", with: "transfer 4000"), to: "challenge")
        try exchange.approve("the prompt shows a statement that was altered on its way", says: "transfer 4000 €")
        try exchange.verify("and the relying party refuses the response", exits: 1, says: "the signature is not")

        try exchange.ask("transfer 40 € to bert", seconds: "0")
        try exchange.approve("a challenge that arrives late is approved", says: "transfer 40 €")
        try exchange.verify("and has expired at the relying party", exits: 1, says: "has expired")

        try exchange.ask("delete everything")
        try exchange.approve("the enrolled user approves an operation", says: "delete everything")
        try exchange.verify(
            "and is refused, since being identified is not being permitted", exits: 1, says: "it is this user, who may not do that")
    }

    private func onAnotherDevice(_ exchange: Exchange) throws {
        // A device of the same user, with the same passcode.
        let other = try Device()
        try other.setPasscode()
        try exchange.ask("transfer 40 € to bert")
        try other.check(
            "the passcode without the device gives no key", exchange.approving, exits: 1, says: "There is no key of anna here")
        try other.check(
            "another device of the user creates its own key", Exchange.factor("enroll", "anna"), says: "The passcode will do")
        try exchange.approve("that key signs", on: other, says: "transfer 40 €")
        try exchange.verify("and is not the enrolled key", exits: 1, says: "the signature is not")
    }
}

extension StartedProgram.Output {
    /// The line that a program printed.
    fileprivate var key: String { out.trimmingCharacters(in: .newlines) }
}
