import TestSupport
import Testing
import VaubanAuthenticationWire
import VaubanDER
import VaubanUserModel
import VaubanUserWire

/// Compares Specs/authentication-wire.md and Specs/user-wire.md with the code.
@Suite struct SpecificationTests {
    @Test("The code writes the examples of Specs/authentication-wire.md") func codeWritesTheExamples() throws {
        let document = try SpecDocument("authentication-wire")
        let evaluate = UserRequest.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "pay"))
        let requests = try SpecDocument("user-wire")
        #expect(try evaluate.encoded() == requests.example("evaluate"))
        #expect(try UserRequest(derBytes: requests.example("evaluate")) == evaluate)
        let register = AgentMessage.register(.everyCaller, place: "tty1")
        #expect(try register.encoded() == document.example("register"))
        #expect(try AgentMessage(derBytes: document.example("register")) == register)
    }
}
