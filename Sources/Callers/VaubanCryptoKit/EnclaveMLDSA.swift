public import Crypto
public import Foundation
public import VaubanLocalAuthentication
public import VaubanSecurity
internal import VaubanKeyWire

extension SecureEnclave.MLDSA65 {
    /// A key of MLDSA65: CryptoKit's `SecureEnclave.MLDSA65.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let key: EnclavePrivateKey
        public let publicKey: Crypto.MLDSA65.PublicKey

        private init(_ key: EnclavePrivateKey) throws {
            self.key = key
            publicKey = try Crypto.MLDSA65.PublicKey(rawRepresentation: key.publicKey)
        }

        /// A new key, for use after the first unlock, on this device alone.
        public init(authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mldsa65, nil, authenticationContext))
        }

        /// A new key under an access control; one that asks for the user needs `.privateKeyUsage`.
        public init(accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mldsa65, accessControl, authenticationContext))
        }

        /// The key that gave these bytes.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mldsa65, stored: dataRepresentation, authenticationContext))
        }

        /// The key as it may be kept anywhere.
        public var dataRepresentation: Data { key.reference.stored }

        /// Signs up to 32 KiB.
        public func signature<D: DataProtocol>(for data: D) throws -> Data { try key.use { try $0.signature(of: Array(data)) } }
    }
}

extension SecureEnclave.MLDSA87 {
    /// A key of MLDSA87: CryptoKit's `SecureEnclave.MLDSA87.PrivateKey`.
    public struct PrivateKey: Sendable {
        private let key: EnclavePrivateKey
        public let publicKey: Crypto.MLDSA87.PublicKey

        private init(_ key: EnclavePrivateKey) throws {
            self.key = key
            publicKey = try Crypto.MLDSA87.PublicKey(rawRepresentation: key.publicKey)
        }

        /// A new key, for use after the first unlock, on this device alone.
        public init(authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mldsa87, nil, authenticationContext))
        }

        /// A new key under an access control; one that asks for the user needs `.privateKeyUsage`.
        public init(accessControl: SecAccessControl, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mldsa87, accessControl, authenticationContext))
        }

        /// The key that gave these bytes.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(EnclavePrivateKey(.mldsa87, stored: dataRepresentation, authenticationContext))
        }

        /// The key as it may be kept anywhere.
        public var dataRepresentation: Data { key.reference.stored }

        /// Signs up to 32 KiB.
        public func signature<D: DataProtocol>(for data: D) throws -> Data { try key.use { try $0.signature(of: Array(data)) } }
    }
}
