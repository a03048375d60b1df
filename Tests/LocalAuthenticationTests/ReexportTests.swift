// Alone on purpose: Apple's LocalAuthentication brings Security.
import LocalAuthentication
import Testing

@Suite struct ReexportTests {
    @Test("Importing LocalAuthentication alone brings the names of Security")
    func importingLocalAuthenticationBringsSecurity() {
        #expect(SecAccessControlCreateFlags.userPresence.rawValue == 1)
        #expect(errSecItemNotFound == -25300)
    }
}
