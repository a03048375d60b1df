package import VaubanLinuxHost

/// The part of an `LAContext` that a keychain call needs. LocalAuthentication depends on this module, so this module can only refer to it
/// through this protocol.
package protocol KeychainAuthenticationContext: AnyObject {
    var interactionNotAllowed: Bool { get }
    var localizedReason: String { get }
    /// The password passed to `setCredential`.
    var applicationPassword: ApplicationPassword? { get }
    /// The enclave's handle of the context's authorization.
    var authorization: [UInt8]? { get }
    /// Begins a call that the context's invalidation ends; returns false if the context is already invalid.
    func begin(_ call: CallCancellation) -> Bool
    func end(_ call: CallCancellation)
}
