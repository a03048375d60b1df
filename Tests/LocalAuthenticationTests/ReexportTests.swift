// Alone on purpose: Apple's LocalAuthentication brings Security.
import LocalAuthentication
import Testing

@Suite struct ReexportTests {
    @Test("importing LocalAuthentication alone brings Security's names")
    func importingLocalAuthenticationBringsSecurity() {
        #expect(SecAccessControlCreateFlags.userPresence.rawValue == 1)
        #expect(errSecItemNotFound == -25300)
    }
}
