public import Crypto
public import Foundation
public import VaubanLocalAuthentication
public import VaubanSecurity
internal import VaubanKeyWire

extension SecureEnclave.MLDSA65 {
    /// A private ML-DSA-65 key of the enclave: CryptoKit's `SecureEnclave.MLDSA65.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let key: EnclavePrivateKey
        /// The public key.
        public let publicKey: Crypto.MLDSA65.PublicKey

        private init(_ key: EnclavePrivateKey) throws {
            self.key = key
            publicKey = try Crypto.MLDSA65.PublicKey(rawRepresentation: key.publicKey)
        }

        /// Creates a key that this device can use after the first unlock, without a prompt.
        /// - Throws: errSecNotAvailable if no Vauban service responds, errSecInteractionNotAllowed before the first unlock.
        public init(authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mldsa65, control: nil, context: authenticationContext))
        }

        /// Creates a key with an access control, which needs `.privateKeyUsage` if it has constraints.
        /// - Throws: errSecParam if the access control has constraints without `.privateKeyUsage`, errSecAuthFailed if it needs a passcode
        ///   or a finger that is not set up, errSecInteractionNotAllowed while the keychain is locked, errSecNotAvailable if no Vauban
        ///   service responds.
        public init(accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mldsa65, control: accessControl, context: authenticationContext))
        }

        /// Restores a key from its `dataRepresentation`.
        /// - Throws: errSecInvalidKeyRef if another enclave made the key, errSecDecode if the bytes were altered, errSecParam if they are
        ///   a key of another type.
        public init<D: DataProtocol>(dataRepresentation: D, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mldsa65, stored: Data(dataRepresentation), authenticationContext))
        }

        /// The key, encrypted for the enclave that made it; safe to store anywhere.
        public var dataRepresentation: Data { key.reference.stored }

        /// Returns the signature of at most 32 KiB of data: 3309 bytes (FIPS 204). Prompts the user if the access control requires it.
        /// - Throws: errSecUserCanceled if the user cancels the prompt, errSecAuthFailed if the user is not recognized,
        ///   errSecInteractionNotAllowed while the keychain is locked or if nothing can show a prompt, errSecNotAvailable if no Vauban
        ///   service responds, errSecDataTooLarge for more than 32 KiB.
        public func signature<D: DataProtocol>(for data: D) throws -> Data { try key.use { try $0.signature(of: Array(data)) } }
    }
}

extension SecureEnclave.MLDSA87 {
    /// A private ML-DSA-87 key of the enclave: CryptoKit's `SecureEnclave.MLDSA87.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let key: EnclavePrivateKey
        /// The public key.
        public let publicKey: Crypto.MLDSA87.PublicKey

        private init(_ key: EnclavePrivateKey) throws {
            self.key = key
            publicKey = try Crypto.MLDSA87.PublicKey(rawRepresentation: key.publicKey)
        }

        /// Creates a key that this device can use after the first unlock, without a prompt.
        /// - Throws: errSecNotAvailable if no Vauban service responds, errSecInteractionNotAllowed before the first unlock.
        public init(authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mldsa87, control: nil, context: authenticationContext))
        }

        /// Creates a key with an access control, which needs `.privateKeyUsage` if it has constraints.
        /// - Throws: errSecParam if the access control has constraints without `.privateKeyUsage`, errSecAuthFailed if it needs a passcode
        ///   or a finger that is not set up, errSecInteractionNotAllowed while the keychain is locked, errSecNotAvailable if no Vauban
        ///   service responds.
        public init(accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mldsa87, control: accessControl, context: authenticationContext))
        }

        /// Restores a key from its `dataRepresentation`.
        /// - Throws: errSecInvalidKeyRef if another enclave made the key, errSecDecode if the bytes were altered, errSecParam if they are
        ///   a key of another type.
        public init<D: DataProtocol>(dataRepresentation: D, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mldsa87, stored: Data(dataRepresentation), authenticationContext))
        }

        /// The key, encrypted for the enclave that made it; safe to store anywhere.
        public var dataRepresentation: Data { key.reference.stored }

        /// Returns the signature of at most 32 KiB of data: 4627 bytes (FIPS 204). Prompts the user if the access control requires it.
        /// - Throws: errSecUserCanceled if the user cancels the prompt, errSecAuthFailed if the user is not recognized,
        ///   errSecInteractionNotAllowed while the keychain is locked or if nothing can show a prompt, errSecNotAvailable if no Vauban
        ///   service responds, errSecDataTooLarge for more than 32 KiB.
        public func signature<D: DataProtocol>(for data: D) throws -> Data { try key.use { try $0.signature(of: Array(data)) } }
    }
}
