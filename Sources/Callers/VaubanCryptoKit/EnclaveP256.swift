public import Crypto
public import Foundation
public import VaubanLocalAuthentication
public import VaubanSecurity
internal import VaubanKeyWire

extension SecureEnclave.P256.Signing {
    /// A key that signs: CryptoKit's `SecureEnclave.P256.Signing.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let key: EnclavePrivateKey
        public let publicKey: Crypto.P256.Signing.PublicKey

        private init(_ key: EnclavePrivateKey) throws {
            self.key = key
            publicKey = try Crypto.P256.Signing.PublicKey(x963Representation: key.publicKey)
        }

        /// A new key, for use after the first unlock, on this device alone. Every key is compact representable.
        public init(compactRepresentable: Bool = true, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.p256, nil, authenticationContext))
        }

        /// A new key under an access control; one that asks for the user needs `.privateKeyUsage`.
        public init(compactRepresentable: Bool = true, accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.p256, accessControl, authenticationContext))
        }

        /// The key that gave these bytes. Refused by name where another enclave made it, or where it was altered.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.p256, stored: dataRepresentation, authenticationContext))
        }

        /// The key as it may be kept anywhere.
        public var dataRepresentation: Data { key.reference.stored }

        public func signature<D: Digest>(for digest: D) throws -> Crypto.P256.Signing.ECDSASignature {
            try key.use { try Crypto.P256.Signing.ECDSASignature(rawRepresentation: $0.signature(of: Array(digest))) }
        }

        /// Signs the SHA-256 digest of the data.
        public func signature<D: DataProtocol>(for data: D) throws -> Crypto.P256.Signing.ECDSASignature {
            try signature(for: SHA256.hash(data: data))
        }
    }
}

extension SecureEnclave.P256.KeyAgreement {
    /// A key for key agreement: CryptoKit's `SecureEnclave.P256.KeyAgreement.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let key: EnclavePrivateKey
        public let publicKey: Crypto.P256.KeyAgreement.PublicKey

        private init(_ key: EnclavePrivateKey) throws {
            self.key = key
            publicKey = try Crypto.P256.KeyAgreement.PublicKey(x963Representation: key.publicKey)
        }

        /// A new key, for use after the first unlock, on this device alone. Every key is compact representable.
        public init(compactRepresentable: Bool = true, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.p256, nil, authenticationContext))
        }

        /// A new key under an access control; one that asks for the user needs `.privateKeyUsage`.
        public init(compactRepresentable: Bool = true, accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.p256, accessControl, authenticationContext))
        }

        /// The key that gave these bytes. Refused by name where another enclave made it, or where it was altered.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.p256, stored: dataRepresentation, authenticationContext))
        }

        /// The key as it may be kept anywhere.
        public var dataRepresentation: Data { key.reference.stored }

        public func sharedSecretFromKeyAgreement(with publicKeyShare: Crypto.P256.KeyAgreement.PublicKey) throws -> SharedSecret {
            try key.use { try $0.exchange(publicKeyShare.x963Representation, for: .exchange) }
        }
    }
}
