// The part of Apple's CryptoKit that swift-crypto lacks: private keys that never leave the enclave. Everything else is swift-crypto's,
// under the same names.

@_exported public import Crypto
internal import Foundation
internal import VaubanAccessPolicy
internal import VaubanKeyWire
internal import VaubanLocalAuthentication
internal import VaubanRefusal
internal import VaubanSecurity

/// Private keys of the enclave: Apple's `SecureEnclave`. A key's `dataRepresentation` is useful only to the enclave that made it, so it can
/// be stored anywhere (Specs/enclave-keys.md).
///
/// Errors are `NSError`s of `NSOSStatusErrorDomain`, with the same codes as `SecKey…`.
public enum SecureEnclave {
    /// Whether a Vauban service is set up for this process.
    public static var isAvailable: Bool { EnclaveKeyReference.isAvailable }

    /// Keys over NIST P-256.
    public enum P256 {
        /// Keys for ECDSA signatures.
        public enum Signing {}
        /// Keys for ECDH key agreement.
        public enum KeyAgreement {}
    }

    /// Signing keys of FIPS 204, category 3.
    public enum MLDSA65 {}

    /// Signing keys of FIPS 204, category 5.
    public enum MLDSA87 {}

    /// Decapsulation keys of FIPS 203, category 3.
    public enum MLKEM768 {}

    /// Decapsulation keys of FIPS 203, category 5.
    public enum MLKEM1024 {}
}

/// A reference to an enclave key, shared by all key types here.
struct EnclavePrivateKey: Sendable {
    let reference: EnclaveKeyReference

    /// Creates a key. Without an access control, this device can use it after the first unlock, without a prompt.
    init(_ kind: EnclaveKeyKind, control: SecAccessControl?, context: LAContext?) throws {
        reference = try EnclaveKeyReference.withReportedErrors {
            let own = try control?.ofKey ?? AccessControl(protection: .afterFirstUnlockThisDeviceOnly, flags: [])
            return try EnclaveKeyReference(making: kind, own, EnclaveKeyContext(context: context))
        }
    }

    /// Restores a key from its stored bytes.
    init(_ kind: EnclaveKeyKind, stored: Data, _ context: LAContext?) throws {
        reference = try EnclaveKeyReference.withReportedErrors {
            let reference = try EnclaveKeyReference(checking: stored, EnclaveKeyContext(context: context))
            guard reference.key.kind == kind else { throw Refusal(.badParameter, "The bytes are a key of another type") }
            return reference
        }
    }

    var publicKey: Data { Data(reference.key.publicKey) }

    func use<Value>(_ body: (EnclaveKeyReference) throws -> Value) throws -> Value {
        try EnclaveKeyReference.withReportedErrors { try body(reference) }
    }
}
