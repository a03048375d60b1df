public import Foundation
public import VaubanSecurity

/// The public key of a persisted right: Apple's `LAPublicKey` (C-209, C-210). No operation needs an authorization.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class LAPublicKey: NSObject, @unchecked Sendable {
    private let key: SecKey

    init(_ key: SecKey) { self.key = key }

    /// The key in X9.63 form, 65 bytes, with which a server verifies signatures.
    /// - Throws: The error of `SecKeyCopyExternalRepresentation`.
    public var bytes: Data { get async throws { try await RightCalls.run { [self] in try external() } } }

    /// Passes the key in X9.63 form or an error to `completion`, on a private queue.
    public func exportBytes(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightCalls.run(completion) { [self] in try external() }
    }

    private func external() throws -> Data { try KeychainCall.data { SecKeyCopyExternalRepresentation(key, $0) } }

    /// Returns the ciphertext of the data, which only the private key can decrypt.
    /// - Throws: The error of `SecKeyCreateEncryptedData`, for example for an algorithm that the key does not support.
    public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await RightCalls.run { [self] in try ciphertext(data, algorithm) }
    }

    /// Passes the ciphertext or an error to `completion`, on a private queue.
    public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm, completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightCalls.run(completion) { [self] in try ciphertext(data, algorithm) }
    }

    private func ciphertext(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try KeychainCall.data { SecKeyCreateEncryptedData(key, algorithm, NSData(data: data), $0) }
    }

    /// Verifies a signature of the data.
    /// - Throws: The error of `SecKeyVerifySignature` if the signature is invalid, or the key does not support the algorithm.
    public func verify(_ data: Data, signature: Data, algorithm: SecKeyAlgorithm) async throws {
        try await RightCalls.run { [self] in try check(data, signature: signature, algorithm: algorithm) }
    }

    /// Passes nil to `completion` if the signature is valid, else an error, on a private queue.
    public func verify(_ data: Data, signature: Data, algorithm: SecKeyAlgorithm, completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightCalls.run({ completion($1) }) { [self] in try check(data, signature: signature, algorithm: algorithm) }
    }

    private func check(_ data: Data, signature: Data, algorithm: SecKeyAlgorithm) throws {
        var error: Unmanaged<CFError>?
        guard SecKeyVerifySignature(key, algorithm, NSData(data: data), NSData(data: signature), &error) else {
            throw error?.takeRetainedValue() ?? KeychainCall.fault(errSecVerifyFailed)
        }
    }

    /// Returns whether the key encrypts with an algorithm.
    public func canEncrypt(using algorithm: SecKeyAlgorithm) -> Bool { SecKeyIsAlgorithmSupported(key, .encrypt, algorithm) }

    /// Returns whether the key verifies signatures with an algorithm.
    public func canVerify(using algorithm: SecKeyAlgorithm) -> Bool { SecKeyIsAlgorithmSupported(key, .verify, algorithm) }
}
