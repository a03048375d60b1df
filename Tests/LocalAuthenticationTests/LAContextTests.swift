import Foundation
import LocalAuthentication
import Testing

/// The state of an LAContext without a service, and subclasses of it in applications.
@Suite struct LAContextTests {
    @Test("A new context has Apple's defaults") func newContextHasApplesDefaults() {
        let context = LAContext()
        #expect(context.localizedFallbackTitle == nil && context.localizedCancelTitle == nil && context.localizedReason.isEmpty)
        #expect(context.touchIDAuthenticationAllowableReuseDuration == 0 && !context.interactionNotAllowed)
        #expect(context.maxBiometryFailures == nil && context.evaluatedPolicyDomainState == nil)
        #expect(!context.isCredentialSet(.applicationPassword) && !context.isCredentialSet(.smartCardPIN))
    }

    @Test("A context keeps its settings") func contextKeepsItsSettings() {
        let context = LAContext()
        context.localizedFallbackTitle = ""
        context.localizedCancelTitle = "Later"
        context.localizedReason = "open it"
        context.touchIDAuthenticationAllowableReuseDuration = 3600
        context.maxBiometryFailures = 2
        #expect(context.localizedFallbackTitle == "" && context.localizedCancelTitle == "Later" && context.localizedReason == "open it")
        // The value is kept as set, although at most five minutes of it count.
        #expect(context.touchIDAuthenticationAllowableReuseDuration == 3600 && context.maxBiometryFailures == 2)
    }

    @Test("A context accepts valid credentials until it is invalidated") func contextAcceptsCredentialsUntilItIsInvalid() {
        let context = LAContext()
        #expect(!context.setCredential(Data(), type: .applicationPassword))
        #expect(!context.setCredential(Data(count: 1025), type: .applicationPassword))
        #expect(!context.setCredential(Data("1234".utf8), type: .smartCardPIN))
        #expect(context.setCredential(Data("x".utf8), type: .applicationPassword) && context.isCredentialSet(.applicationPassword))
        #expect(context.setCredential(nil, type: .applicationPassword) && !context.isCredentialSet(.applicationPassword))
        #expect(context.setCredential(Data("x".utf8), type: .applicationPassword))
        context.invalidate()
        #expect(!context.isCredentialSet(.applicationPassword) && !context.setCredential(Data("x".utf8), type: .applicationPassword))
    }

    @Test("Every use of an invalidated context fails") func everyUseOfAnInvalidContextFails() async {
        let context = LAContext()
        context.invalidate()
        context.invalidate()
        var error: NSError?
        #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
        // The result can be ignored, since applications call it to learn `biometryType`.
        context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
        // In both forms of the error.
        #expect(error?.domain == LAErrorDomain && (error as? LAError)?.code == .invalidContext)
        await #expect(throws: LAError(.invalidContext)) {
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open")
        }
    }

    @Test("An empty reason is refused") func emptyReasonIsRefused() async {
        do {
            try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "")
            Issue.record("an empty reason was taken")
        } catch {
            #expect((error as NSError).domain == LAErrorDomain && (error as NSError).code == -1001)
        }
    }

    /// A subclass as applications use it to test their own flows.
    private final class Agreeing: LAContext, @unchecked Sendable {
        override var biometryType: LABiometryType { .faceID }
        override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool { true }
        override func evaluatePolicy(_ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void) {
            if localizedReason == "no" { reply(false, LAError(.userCancel)) } else { reply(true, nil) }
        }
    }

    @Test("A subclass can override the methods of a context") func subclassOverridesTheContext() async throws {
        let context: LAContext = Agreeing()
        #expect(context.biometryType == .faceID && context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "yes"))
        await #expect(throws: LAError(.userCancel)) { try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "no") }
    }
}
