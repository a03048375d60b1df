public import Foundation
public import VaubanSecurity

/// The private key of a persisted right, which never leaves the enclave: Apple's `LAPrivateKey` (C-208, C-211). Operations work while the
/// right is authorized; otherwise they throw `LAError.authenticationFailed`, without a prompt.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class LAPrivateKey: NSObject, @unchecked Sendable {
    private let right: LAPersistedRight

    init(_ right: LAPersistedRight) { self.right = right }

    /// The public key, which needs no authorization.
    public var publicKey: LAPublicKey { LAPublicKey(right.gate.kept.publicKey) }

    // MARK: Signing

    /// Returns the signature of the data, or of a digest if the algorithm takes digests. ECDSA signatures are in X9.62 form (DER).
    /// - Throws: `LAError.authenticationFailed` unless the right is authorized; otherwise the error of `SecKeyCreateSignature`.
    public func sign(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await RightCalls.run { [self] in try signature(data, algorithm) }
    }

    /// Passes the signature or an error to `completion`, on a private queue.
    public func sign(_ data: Data, algorithm: SecKeyAlgorithm, completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightCalls.run(completion) { [self] in try signature(data, algorithm) }
    }

    private func signature(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try right.withPrivateKey { key in try KeychainCall.data { SecKeyCreateSignature(key, algorithm, NSData(data: data), $0) } }
    }

    // MARK: Decrypting

    /// Returns the plaintext of data that was encrypted with the public key.
    /// - Throws: `LAError.authenticationFailed` unless the right is authorized; otherwise the error of `SecKeyCreateDecryptedData`.
    public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await RightCalls.run { [self] in try plaintext(data, algorithm) }
    }

    /// Passes the plaintext or an error to `completion`, on a private queue.
    public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm, completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightCalls.run(completion) { [self] in try plaintext(data, algorithm) }
    }

    private func plaintext(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try right.withPrivateKey { key in try KeychainCall.data { SecKeyCreateDecryptedData(key, algorithm, NSData(data: data), $0) } }
    }

    // MARK: Exchanging keys

    /// Returns the shared secret of this key and another public key in its external representation. The parameters are those of
    /// `SecKeyCopyKeyExchangeResult`: `requestedSize` and `sharedInfo`.
    /// - Throws: `LAError.authenticationFailed` unless the right is authorized; otherwise the error of `SecKeyCreateWithData` for the
    ///   public key, or of `SecKeyCopyKeyExchangeResult`.
    public func exchangeKeys(publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any]) async throws -> Data {
        let chosen = ExchangeParameters(parameters)
        return try await RightCalls.run { [self] in try shared(publicKey, algorithm: algorithm, parameters: chosen) }
    }

    /// Passes the shared secret or an error to `completion`, on a private queue.
    public func exchangeKeys(
        publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any],
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        let chosen = ExchangeParameters(parameters)
        RightCalls.run(completion) { [self] in try shared(publicKey, algorithm: algorithm, parameters: chosen) }
    }

    private func shared(_ publicKey: Data, algorithm: SecKeyAlgorithm, parameters: ExchangeParameters) throws -> Data {
        try right.withPrivateKey { key in
            let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic]
            let peer = try KeychainCall.object { SecKeyCreateWithData(NSData(data: publicKey), attributes as CFDictionary, $0) }
            return try KeychainCall.data { SecKeyCopyKeyExchangeResult(key, algorithm, peer, parameters.dictionary, $0) }
        }
    }

    // MARK: Supported algorithms

    /// Returns whether the key signs with an algorithm. Needs no authorization.
    public func canSign(using algorithm: SecKeyAlgorithm) -> Bool { supports(.sign, algorithm) }

    /// Returns whether the key decrypts with an algorithm. Needs no authorization.
    public func canDecrypt(using algorithm: SecKeyAlgorithm) -> Bool { supports(.decrypt, algorithm) }

    /// Returns whether the key exchanges keys with an algorithm. Needs no authorization.
    public func canExchangeKeys(using algorithm: SecKeyAlgorithm) -> Bool { supports(.keyExchange, algorithm) }

    private func supports(_ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(right.gate.kept.key, operation, algorithm)
    }
}

/// The two parameters, read on the caller's thread. Ignores values of another type, as `SecKeyCopyKeyExchangeResult` does.
private struct ExchangeParameters: Sendable {
    private let size: Int?
    private let sharedInfo: Data?

    init(_ parameters: [AnyHashable: Any]) {
        func value(_ parameter: SecKeyKeyExchangeParameter) -> Any? {
            parameters[parameter.rawValue as String] ?? parameters[parameter] ?? parameters[parameter.rawValue]
        }
        size = value(.requestedSize) as? Int
        sharedInfo = value(.sharedInfo) as? Data
    }

    var dictionary: CFDictionary {
        let dictionary = NSMutableDictionary()
        if let size { dictionary[SecKeyKeyExchangeParameter.requestedSize.rawValue] = NSNumber(value: size) }
        if let sharedInfo { dictionary[SecKeyKeyExchangeParameter.sharedInfo.rawValue] = NSData(data: sharedInfo) }
        return dictionary
    }
}
