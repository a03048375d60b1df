public import Crypto
public import Foundation
public import VaubanLocalAuthentication
public import VaubanSecurity
internal import VaubanKeyWire

extension SecureEnclave.MLKEM768 {
    /// A private ML-KEM-768 key of the enclave: CryptoKit's `SecureEnclave.MLKEM768.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let key: EnclavePrivateKey
        /// The public key.
        public let publicKey: Crypto.MLKEM768.PublicKey

        private init(_ key: EnclavePrivateKey) throws {
            self.key = key
            publicKey = try Crypto.MLKEM768.PublicKey(rawRepresentation: key.publicKey)
        }

        /// Creates a key that this device can use after the first unlock, without a prompt.
        /// - Throws: errSecNotAvailable if no Vauban service responds, errSecInteractionNotAllowed before the first unlock.
        public init(authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mlkem768, control: nil, context: authenticationContext))
        }

        /// Creates a key with an access control, which needs `.privateKeyUsage` if it has constraints.
        /// - Throws: errSecParam if the access control has constraints without `.privateKeyUsage`, errSecAuthFailed if it needs a passcode
        ///   or a finger that is not set up, errSecInteractionNotAllowed while the keychain is locked, errSecNotAvailable if no Vauban
        ///   service responds.
        public init(accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mlkem768, control: accessControl, context: authenticationContext))
        }

        /// Restores a key from its `dataRepresentation`.
        /// - Throws: errSecInvalidKeyRef if another enclave made the key, errSecDecode if the bytes were altered, errSecParam if they are
        ///   a key of another type.
        public init<D: DataProtocol>(dataRepresentation: D, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mlkem768, stored: Data(dataRepresentation), authenticationContext))
        }

        /// The key, encrypted for the enclave that made it; safe to store anywhere.
        public var dataRepresentation: Data { key.reference.stored }

        /// Returns the key, 32 bytes, that was encapsulated with the public key (FIPS 203). Prompts the user if the access control requires
        /// it.
        /// - Throws: errSecUserCanceled if the user cancels the prompt, errSecAuthFailed if the user is not recognized,
        ///   errSecInteractionNotAllowed while the keychain is locked or if nothing can show a prompt, errSecNotAvailable if no Vauban
        ///   service responds, errSecParam for a ciphertext of another length.
        public func decapsulate<D: DataProtocol>(_ encapsulated: D) throws -> SymmetricKey {
            try key.use { try $0.decapsulated(Array(encapsulated)) }
        }
    }
}

extension SecureEnclave.MLKEM1024 {
    /// A private ML-KEM-1024 key of the enclave: CryptoKit's `SecureEnclave.MLKEM1024.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let key: EnclavePrivateKey
        /// The public key.
        public let publicKey: Crypto.MLKEM1024.PublicKey

        private init(_ key: EnclavePrivateKey) throws {
            self.key = key
            publicKey = try Crypto.MLKEM1024.PublicKey(rawRepresentation: key.publicKey)
        }

        /// Creates a key that this device can use after the first unlock, without a prompt.
        /// - Throws: errSecNotAvailable if no Vauban service responds, errSecInteractionNotAllowed before the first unlock.
        public init(authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mlkem1024, control: nil, context: authenticationContext))
        }

        /// Creates a key with an access control, which needs `.privateKeyUsage` if it has constraints.
        /// - Throws: errSecParam if the access control has constraints without `.privateKeyUsage`, errSecAuthFailed if it needs a passcode
        ///   or a finger that is not set up, errSecInteractionNotAllowed while the keychain is locked, errSecNotAvailable if no Vauban
        ///   service responds.
        public init(accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mlkem1024, control: accessControl, context: authenticationContext))
        }

        /// Restores a key from its `dataRepresentation`.
        /// - Throws: errSecInvalidKeyRef if another enclave made the key, errSecDecode if the bytes were altered, errSecParam if they are
        ///   a key of another type.
        public init<D: DataProtocol>(dataRepresentation: D, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mlkem1024, stored: Data(dataRepresentation), authenticationContext))
        }

        /// The key, encrypted for the enclave that made it; safe to store anywhere.
        public var dataRepresentation: Data { key.reference.stored }

        /// Returns the key, 32 bytes, that was encapsulated with the public key (FIPS 203). Prompts the user if the access control requires
        /// it.
        /// - Throws: errSecUserCanceled if the user cancels the prompt, errSecAuthFailed if the user is not recognized,
        ///   errSecInteractionNotAllowed while the keychain is locked or if nothing can show a prompt, errSecNotAvailable if no Vauban
        ///   service responds, errSecParam for a ciphertext of another length.
        public func decapsulate<D: DataProtocol>(_ encapsulated: D) throws -> SymmetricKey {
            try key.use { try $0.decapsulated(Array(encapsulated)) }
        }
    }
}
