// The only import, deliberately: Apple's LocalAuthentication also imports Security.
import LocalAuthentication
import Testing

@Suite struct ReexportTests {
    @Test("Importing LocalAuthentication alone brings the names of Security")
    func importingLocalAuthenticationBringsSecurity() {
        #expect(SecAccessControlCreateFlags.userPresence.rawValue == 1)
        #expect(errSecItemNotFound == -25300)
    }
}
