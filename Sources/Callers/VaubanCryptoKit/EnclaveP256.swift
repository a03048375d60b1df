public import Crypto
public import Foundation
public import VaubanLocalAuthentication
public import VaubanSecurity
internal import VaubanKeyWire

extension SecureEnclave.P256.Signing {
    /// A private P-256 key of the enclave that signs: CryptoKit's `SecureEnclave.P256.Signing.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let key: EnclavePrivateKey
        /// The public key.
        public let publicKey: Crypto.P256.Signing.PublicKey

        private init(_ key: EnclavePrivateKey) throws {
            self.key = key
            publicKey = try Crypto.P256.Signing.PublicKey(x963Representation: key.publicKey)
        }

        /// Creates a key that this device can use after the first unlock, without a prompt. Every key is compact representable.
        /// - Throws: errSecNotAvailable if no Vauban service responds, errSecInteractionNotAllowed before the first unlock.
        public init(compactRepresentable: Bool = true, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.p256, control: nil, context: authenticationContext))
        }

        /// Creates a key with an access control, which needs `.privateKeyUsage` if it has constraints.
        /// - Throws: errSecParam if the access control has constraints without `.privateKeyUsage`, errSecAuthFailed if it needs a passcode
        ///   or a finger that is not set up, errSecInteractionNotAllowed while the keychain is locked, errSecNotAvailable if no Vauban
        ///   service responds.
        public init(compactRepresentable: Bool = true, accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.p256, control: accessControl, context: authenticationContext))
        }

        /// Restores a key from its `dataRepresentation`.
        /// - Throws: errSecInvalidKeyRef if another enclave made the key, errSecDecode if the bytes were altered, errSecParam if they are
        ///   a key of another type.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.p256, stored: dataRepresentation, authenticationContext))
        }

        /// The key, encrypted for the enclave that made it; safe to store anywhere.
        public var dataRepresentation: Data { key.reference.stored }

        /// Returns the ECDSA signature of a digest. Prompts the user if the access control requires it.
        /// - Throws: errSecUserCanceled if the user cancels the prompt, errSecAuthFailed if the user is not recognized,
        ///   errSecInteractionNotAllowed while the keychain is locked or if nothing can show a prompt, errSecNotAvailable if no Vauban
        ///   service responds.
        public func signature<D: Digest>(for digest: D) throws -> Crypto.P256.Signing.ECDSASignature {
            try key.use { try Crypto.P256.Signing.ECDSASignature(rawRepresentation: $0.signature(of: Array(digest))) }
        }

        /// Returns the ECDSA signature of the data's SHA-256 digest. Prompts the user if the access control requires it.
        /// - Throws: errSecUserCanceled if the user cancels the prompt, errSecAuthFailed if the user is not recognized,
        ///   errSecInteractionNotAllowed while the keychain is locked or if nothing can show a prompt, errSecNotAvailable if no Vauban
        ///   service responds.
        public func signature<D: DataProtocol>(for data: D) throws -> Crypto.P256.Signing.ECDSASignature {
            try signature(for: SHA256.hash(data: data))
        }
    }
}

extension SecureEnclave.P256.KeyAgreement {
    /// A private P-256 key of the enclave for key agreement: CryptoKit's `SecureEnclave.P256.KeyAgreement.PrivateKey`. It also
    /// opens what `HPKE` sealed for its public key.
    public struct PrivateKey: HPKEDiffieHellmanPrivateKey {
        private let key: EnclavePrivateKey
        /// The public key.
        public let publicKey: Crypto.P256.KeyAgreement.PublicKey

        private init(_ key: EnclavePrivateKey) throws {
            self.key = key
            publicKey = try Crypto.P256.KeyAgreement.PublicKey(x963Representation: key.publicKey)
        }

        /// Creates a key that this device can use after the first unlock, without a prompt. Every key is compact representable.
        /// - Throws: errSecNotAvailable if no Vauban service responds, errSecInteractionNotAllowed before the first unlock.
        public init(compactRepresentable: Bool = true, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.p256, control: nil, context: authenticationContext))
        }

        /// Creates a key with an access control, which needs `.privateKeyUsage` if it has constraints.
        /// - Throws: errSecParam if the access control has constraints without `.privateKeyUsage`, errSecAuthFailed if it needs a passcode
        ///   or a finger that is not set up, errSecInteractionNotAllowed while the keychain is locked, errSecNotAvailable if no Vauban
        ///   service responds.
        public init(compactRepresentable: Bool = true, accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.p256, control: accessControl, context: authenticationContext))
        }

        /// Restores a key from its `dataRepresentation`.
        /// - Throws: errSecInvalidKeyRef if another enclave made the key, errSecDecode if the bytes were altered, errSecParam if they are
        ///   a key of another type.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.p256, stored: dataRepresentation, authenticationContext))
        }

        /// The key, encrypted for the enclave that made it; safe to store anywhere.
        public var dataRepresentation: Data { key.reference.stored }

        /// Returns the secret shared with another public key: the x coordinate of the shared point. Prompts the user if the access control
        /// requires it.
        /// - Throws: errSecUserCanceled if the user cancels the prompt, errSecAuthFailed if the user is not recognized,
        ///   errSecInteractionNotAllowed while the keychain is locked or if nothing can show a prompt, errSecNotAvailable if no Vauban
        ///   service responds.
        public func sharedSecretFromKeyAgreement(with publicKeyShare: Crypto.P256.KeyAgreement.PublicKey) throws -> SharedSecret {
            try key.use { try $0.exchange(publicKeyShare.x963Representation, for: .exchange) }
        }
    }
}
