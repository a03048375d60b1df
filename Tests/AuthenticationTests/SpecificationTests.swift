import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationWire
import VaubanDER

/// What Specs/authentication-wire.md says and what the code does.
@Suite struct SpecificationTests {
    @Test func theWorkedExamplesAreWhatTheCodeWrites() throws {
        let document = try SpecDocument("authentication-wire")
        let evaluate = AuthenticationRequest.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "pay"))
        #expect(try evaluate.encoded() == document.example("evaluate"))
        #expect(try AuthenticationRequest(derBytes: document.example("evaluate")) == evaluate)
        let register = AgentMessage.register(.everyCaller, place: "tty1")
        #expect(try register.encoded() == document.example("register"))
        #expect(try AgentMessage(derBytes: document.example("register")) == register)
    }
}
