public import Crypto
public import Foundation
public import VaubanLocalAuthentication
public import VaubanSecurity
internal import VaubanKeyWire

extension SecureEnclave.MLKEM768 {
    /// A key of MLKEM768: CryptoKit's `SecureEnclave.MLKEM768.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let key: EnclavePrivateKey
        public let publicKey: Crypto.MLKEM768.PublicKey

        private init(_ key: EnclavePrivateKey) throws {
            self.key = key
            publicKey = try Crypto.MLKEM768.PublicKey(rawRepresentation: key.publicKey)
        }

        /// A new key, for use after the first unlock, on this device alone.
        public init(authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mlkem768, nil, authenticationContext))
        }

        /// A new key under an access control; one that asks for the user needs `.privateKeyUsage`.
        public init(accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mlkem768, accessControl, authenticationContext))
        }

        /// The key that gave these bytes.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mlkem768, stored: dataRepresentation, authenticationContext))
        }

        /// The key as it may be kept anywhere.
        public var dataRepresentation: Data { key.reference.stored }

        public func decapsulate<D: DataProtocol>(_ encapsulated: D) throws -> SymmetricKey {
            try key.use { try $0.decapsulated(Array(encapsulated)) }
        }
    }
}

extension SecureEnclave.MLKEM1024 {
    /// A key of MLKEM1024: CryptoKit's `SecureEnclave.MLKEM1024.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let key: EnclavePrivateKey
        public let publicKey: Crypto.MLKEM1024.PublicKey

        private init(_ key: EnclavePrivateKey) throws {
            self.key = key
            publicKey = try Crypto.MLKEM1024.PublicKey(rawRepresentation: key.publicKey)
        }

        /// A new key, for use after the first unlock, on this device alone.
        public init(authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mlkem1024, nil, authenticationContext))
        }

        /// A new key under an access control; one that asks for the user needs `.privateKeyUsage`.
        public init(accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mlkem1024, accessControl, authenticationContext))
        }

        /// The key that gave these bytes.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mlkem1024, stored: dataRepresentation, authenticationContext))
        }

        /// The key as it may be kept anywhere.
        public var dataRepresentation: Data { key.reference.stored }

        public func decapsulate<D: DataProtocol>(_ encapsulated: D) throws -> SymmetricKey {
            try key.use { try $0.decapsulated(Array(encapsulated)) }
        }
    }
}
