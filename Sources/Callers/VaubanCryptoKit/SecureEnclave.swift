// What Apple's CryptoKit has and swift-crypto has not: private keys that never leave the enclave. Everything else of it is
// swift-crypto's, whose names are the same.

@_exported public import Crypto
internal import Foundation
internal import VaubanAccessPolicy
internal import VaubanKeyWire
internal import VaubanLocalAuthentication
internal import VaubanRefusal
internal import VaubanSecurity

/// Keys of the enclave: Apple's `SecureEnclave`. A key's `dataRepresentation` is worth something to the enclave that made it alone, so
/// that it may be kept anywhere (Specs/enclave-keys.md).
///
/// What is refused is an `NSError` in `NSOSStatusErrorDomain`, with the same codes as `SecKey…`.
public enum SecureEnclave {
    /// Whether a Vauban is set up for this process.
    public static var isAvailable: Bool { EnclaveKeyReference.isAvailable }

    /// Keys over NIST P-256.
    public enum P256 {
        public enum Signing {}
        public enum KeyAgreement {}
    }

    /// Keys of FIPS 204.
    public enum MLDSA65 {}
    public enum MLDSA87 {}

    /// Keys of FIPS 203.
    public enum MLKEM768 {}
    public enum MLKEM1024 {}
}

/// What all these keys are: a reference to a key of one kind.
struct EnclavePrivateKey: Sendable {
    let reference: EnclaveKeyReference

    /// Makes a key. Without an access control it can be used from the first unlock on, on this device, and asks nobody.
    init(_ kind: EnclaveKeyKind, _ control: SecAccessControl?, _ context: LAContext?) throws {
        reference = try EnclaveKeyReference.reporting {
            let own = try control?.ofKey ?? AccessControl(protection: .afterFirstUnlockThisDeviceOnly, flags: [])
            return try EnclaveKeyReference(making: kind, own, EnclaveKeyContext(context: context))
        }
    }

    /// From bytes that an earlier one gave.
    init(_ kind: EnclaveKeyKind, stored: Data, _ context: LAContext?) throws {
        reference = try EnclaveKeyReference.reporting {
            let reference = try EnclaveKeyReference(checking: stored, EnclaveKeyContext(context: context))
            guard reference.key.kind == kind else { throw Refusal(.badParameter, "the bytes are a key of another type") }
            return reference
        }
    }

    var publicKey: Data { Data(reference.key.publicKey) }

    func use<Value>(_ body: (EnclaveKeyReference) throws -> Value) throws -> Value {
        try EnclaveKeyReference.reporting { try body(reference) }
    }
}
