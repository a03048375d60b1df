public import Foundation
public import VaubanSecurity

/// The public half of a kept right's key: Apple's `LAPublicKey` (C-209, C-210). Nothing that it does needs an authorization.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class LAPublicKey: NSObject, @unchecked Sendable {
    private let key: SecKey

    init(_ key: SecKey) { self.key = key }

    /// The key in X9.63 form, 65 bytes: what a server is given to verify signatures with.
    public var bytes: Data { get async throws { try await RightCalls.run { [self] in try external() } } }

    /// The same, which answers on a private queue.
    public func exportBytes(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightCalls.run(completion) { [self] in try external() }
    }

    private func external() throws -> Data { try KeychainCall.data { SecKeyCopyExternalRepresentation(key, $0) } }

    /// Encrypts what the private key alone opens.
    public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await RightCalls.run { [self] in try ciphertext(data, algorithm) }
    }

    /// The same, which answers on a private queue.
    public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm, completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightCalls.run(completion) { [self] in try ciphertext(data, algorithm) }
    }

    private func ciphertext(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try KeychainCall.data { SecKeyCreateEncryptedData(key, algorithm, NSData(data: data), $0) }
    }

    /// Throws unless the signature of the data is this key's.
    public func verify(_ data: Data, signature: Data, algorithm: SecKeyAlgorithm) async throws {
        try await RightCalls.run { [self] in try check(data, signature, algorithm) }
    }

    /// The same, which answers on a private queue; nil means that it is.
    public func verify(_ data: Data, signature: Data, algorithm: SecKeyAlgorithm, completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightCalls.run({ completion($1) }) { [self] in try check(data, signature, algorithm) }
    }

    private func check(_ data: Data, _ signature: Data, _ algorithm: SecKeyAlgorithm) throws {
        var error: Unmanaged<CFError>?
        guard SecKeyVerifySignature(key, algorithm, NSData(data: data), NSData(data: signature), &error) else {
            throw error?.takeRetainedValue() ?? KeychainCall.fault(errSecVerifyFailed)
        }
    }

    /// Whether it encrypts by an algorithm.
    public func canEncrypt(using algorithm: SecKeyAlgorithm) -> Bool { SecKeyIsAlgorithmSupported(key, .encrypt, algorithm) }

    /// Whether it verifies signatures by an algorithm.
    public func canVerify(using algorithm: SecKeyAlgorithm) -> Bool { SecKeyIsAlgorithmSupported(key, .verify, algorithm) }
}
