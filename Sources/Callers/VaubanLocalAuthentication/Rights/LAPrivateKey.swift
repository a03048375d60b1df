public import Foundation
public import VaubanSecurity

/// The private key of a kept right, which never leaves the enclave: Apple's `LAPrivateKey` (C-208, C-211). It works while the right is
/// authorized; otherwise every operation throws `LAError.authenticationFailed`, and nobody is asked.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class LAPrivateKey: NSObject, @unchecked Sendable {
    private let right: LAPersistedRight

    init(_ right: LAPersistedRight) { self.right = right }

    /// The public half, which needs no authorization.
    public var publicKey: LAPublicKey { LAPublicKey(right.gate.kept.publicKey) }

    // MARK: Signing

    /// Signs data, or a digest where the algorithm is one for digests.
    public func sign(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await RightCalls.run { [self] in try signature(data, algorithm) }
    }

    /// The same, which answers on a private queue.
    public func sign(_ data: Data, algorithm: SecKeyAlgorithm, completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightCalls.run(completion) { [self] in try signature(data, algorithm) }
    }

    private func signature(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try right.withPrivateKey { key in try KeychainCall.data { SecKeyCreateSignature(key, algorithm, NSData(data: data), $0) } }
    }

    // MARK: Decrypting

    /// Opens what was encrypted for the public key.
    public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await RightCalls.run { [self] in try plaintext(data, algorithm) }
    }

    /// The same, which answers on a private queue.
    public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm, completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightCalls.run(completion) { [self] in try plaintext(data, algorithm) }
    }

    private func plaintext(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try right.withPrivateKey { key in try KeychainCall.data { SecKeyCreateDecryptedData(key, algorithm, NSData(data: data), $0) } }
    }

    // MARK: Exchanging keys

    /// What this key and another's public key, in its external form, have in common. The parameters are those of
    /// `SecKeyCopyKeyExchangeResult`: `requestedSize` and `sharedInfo`.
    public func exchangeKeys(publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any]) async throws -> Data {
        let chosen = ExchangeParameters(parameters)
        return try await RightCalls.run { [self] in try shared(publicKey, algorithm, chosen) }
    }

    /// The same, which answers on a private queue.
    public func exchangeKeys(
        publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any],
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        let chosen = ExchangeParameters(parameters)
        RightCalls.run(completion) { [self] in try shared(publicKey, algorithm, chosen) }
    }

    private func shared(_ publicKey: Data, _ algorithm: SecKeyAlgorithm, _ parameters: ExchangeParameters) throws -> Data {
        try right.withPrivateKey { key in
            let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic]
            let peer = try KeychainCall.object { SecKeyCreateWithData(NSData(data: publicKey), attributes as CFDictionary, $0) }
            return try KeychainCall.data { SecKeyCopyKeyExchangeResult(key, algorithm, peer, parameters.dictionary, $0) }
        }
    }

    // MARK: What it does

    /// Whether it signs by an algorithm. Needs no authorization.
    public func canSign(using algorithm: SecKeyAlgorithm) -> Bool { does(.sign, algorithm) }

    /// Whether it decrypts by an algorithm. Needs no authorization.
    public func canDecrypt(using algorithm: SecKeyAlgorithm) -> Bool { does(.decrypt, algorithm) }

    /// Whether it exchanges keys by an algorithm. Needs no authorization.
    public func canExchangeKeys(using algorithm: SecKeyAlgorithm) -> Bool { does(.keyExchange, algorithm) }

    private func does(_ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(right.gate.kept.key, operation, algorithm)
    }
}

/// The two that there are, read on the caller's side. A value of another type is left out, as `SecKeyCopyKeyExchangeResult` does.
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
