// This process's reference to a private key of the enclave.

package import Crypto
package import VaubanAccessPolicy
internal import VaubanDER
package import VaubanKeyWire
internal import VaubanKeychainClient
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes

/// How to prompt for a key's use, from the call that returned the reference.
package struct EnclaveKeyContext {
    let context: (any KeychainAuthenticationContext)?
    let prompt: String?
    let suppressesUI: Bool

    package init(context: (any KeychainAuthenticationContext)? = nil, prompt: String? = nil, suppressesUI: Bool = false) {
        self.context = context
        self.prompt = prompt
        self.suppressesUI = suppressesUI
    }

    /// How to prompt, from the context's current state: it may have been authorized or invalidated since the reference was made.
    fileprivate var prompting: KeyPrompting {
        let words = context?.localizedReason ?? ""
        return KeyPrompting(
            reason: prompt ?? (words.isEmpty ? nil : words), mayPrompt: !suppressesUI && context?.interactionNotAllowed != true,
            authorization: context?.authorization)
    }
}

/// `@unchecked Sendable`: it never changes; the context has its own lock.
package final class EnclaveKeyReference: @unchecked Sendable {
    package let key: EnclaveKey
    /// The key's encrypted bytes, safe to store anywhere.
    package let stored: Data
    private let keys: EnclaveKeyContext
    /// The connections of the service from which the key was fetched.
    private let client: Result<KeyClient, Refusal>

    init(_ key: EnclaveKey, _ keys: EnclaveKeyContext) throws {
        self.key = key
        self.keys = keys
        client = Result { () throws(Refusal) in try KeyConnections.client() }
        stored = Data(try key.encoded())
    }

    /// Creates a reference from an item of the keychain, which vouches for its bytes.
    convenience init(stored: Data, _ keys: EnclaveKeyContext) throws {
        try self.init(EnclaveKey(stored: [UInt8](stored)), keys)
    }

    /// Creates a reference from bytes of unknown origin: the enclave checks that they are one of its keys, so that no other public key can
    /// be passed off as one. The key's protection class must be unlocked.
    package convenience init(checking stored: Data, _ keys: EnclaveKeyContext) throws {
        try self.init(stored: stored, keys)
        try client.get().check(key)
    }

    /// Whether a Vauban service is set up for this process.
    package static var isAvailable: Bool { (try? Service.current()) != nil }

    /// Converts thrown errors to those that this module reports.
    package static func withReportedErrors<Value>(_ body: () throws -> Value) throws -> Value {
        var error: Unmanaged<CFError>?
        if let value = withReportedError(&error, body) { return value }
        throw error?.takeRetainedValue() ?? NSError(domain: NSOSStatusErrorDomain, code: Int(errSecInternal))
    }

    /// Creates a key in the enclave.
    package convenience init(making kind: EnclaveKeyKind, _ control: AccessControl, _ keys: EnclaveKeyContext) throws {
        let password: SecretBytes? = keys.context?.applicationPassword?.bytes.duplicate()
        try self.init(try KeyConnections.client().make(kind, control, password: password), keys)
    }

    /// Returns an ECDSA signature over a digest, in X9.62 form or as r ‖ s.
    func sign(_ digest: GivenDigest, isRaw: Bool) throws -> Data {
        let raw = try signature(of: digest.bytes)
        return isRaw ? raw : try P256.Signing.ECDSASignature(rawRepresentation: raw).derRepresentation
    }

    /// Returns an ECDSA signature over a digest as r ‖ s, or an ML-DSA signature over a message.
    package func signature(of input: [UInt8]) throws -> Data {
        guard case .signature(let signature) = try use(.sign, input) else { throw Refusal(.internalError) }
        return Data(signature)
    }

    /// Returns the secret shared with another public key in X9.63 form.
    package func exchange(_ publicKey: Data, for operation: KeyOperation) throws -> SharedSecret {
        let peer: P256.KeyAgreement.PublicKey
        do { peer = try P256.KeyAgreement.PublicKey(x963Representation: publicKey) } catch {
            throw StatusError(errSecParam, "the other public key is not on this curve")
        }
        let secret = try shared(operation, [UInt8](peer.x963Representation))
        return try SharedSecret.withCoordinate(secret)
    }

    /// Returns the encapsulated key.
    package func decapsulated(_ encapsulated: [UInt8]) throws -> SymmetricKey {
        let secret = try shared(.decapsulate, encapsulated)
        return secret.withUnsafeBytes { SymmetricKey(data: $0) }
    }

    private func shared(_ operation: KeyOperation, _ input: [UInt8]) throws -> SecretBytes {
        switch try use(operation, input) {
        case .shared(let secret): return secret
        case .signature: throw Refusal(.internalError)
        }
    }

    private func use(_ operation: KeyOperation, _ input: [UInt8]) throws -> KeyOutcome {
        let client = try client.get()
        return try withPrompts(keys.context) { (waiting, cancellation) throws(Refusal) in
            let password: SecretBytes? = keys.context?.applicationPassword?.bytes.duplicate()
            return try client.use(
                key, for: operation, input: input, prompting: keys.prompting, password: password, waiting: waiting,
                cancellation: cancellation)
        }
    }
}

extension SharedSecret {
    /// The library creates shared secrets only by a key exchange; one with the private number 1 returns the coordinate of the given point.
    fileprivate static func withCoordinate(_ coordinate: borrowing SecretBytes) throws -> SharedSecret {
        let one = try P256.KeyAgreement.PrivateKey(rawRepresentation: [UInt8](repeating: 0, count: 31) + [1])
        var compressed = SecretBytes(count: coordinate.count + 1) { target in
            target[0] = 2
            coordinate.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[1...]).copyMemory(from: $0) }
        }
        return try compressed.withUnsafeMutableBytes { bytes throws(any Error) -> SharedSecret in
            try one.sharedSecretFromKeyAgreement(with: P256.KeyAgreement.PublicKey(compressedRepresentation: UnsafeRawBufferPointer(bytes)))
        }
    }
}

extension KeyDictionary {
    /// Throws unless the token, if any, is the enclave's.
    func checkToken() throws {
        for dictionary in [self, half(isPrivate: true)] {
            guard let token = dictionary[kSecAttrTokenID] else { continue }
            guard token as? String == kSecAttrTokenIDSecureEnclave as String else {
                throw StatusError(errSecParam, "the only token is kSecAttrTokenIDSecureEnclave")
            }
        }
    }

    func keyContext() throws -> EnclaveKeyContext {
        let own = half(isPrivate: true)
        var context: (any KeychainAuthenticationContext)?
        if let given = own[kSecUseAuthenticationContext] {
            guard let known = given as? any KeychainAuthenticationContext else {
                throw StatusError(errSecParam, "the authentication context is not an LAContext")
            }
            context = known
        }
        return EnclaveKeyContext(context: context, prompt: own[kSecUseOperationPrompt] as? String)
    }

    /// Creates a key from the dictionary: 256 bits, with its accessibility and access control.
    func madeInEnclave() throws -> EnclaveKeyReference {
        try checkToken()
        let own = half(isPrivate: true)
        guard own.text(kSecAttrKeyType) == KeyType.elliptic.rawValue, [nil, 256].contains(own.number(kSecAttrKeySizeInBits)) else {
            throw StatusError(errSecParam, "the enclave creates keys over P-256 (kSecAttrKeyTypeECSECPrimeRandom, 256 bits)")
        }
        return try EnclaveKeyReference(making: .p256, try own.control(), try keyContext())
    }

    private func control() throws -> AccessControl {
        if let given = self[kSecAttrAccessControl] {
            guard let control = given as? SecAccessControl else {
                throw StatusError(errSecParam, "the access control is not a SecAccessControl")
            }
            return try control.ofKey
        }
        guard let code = self[kSecAttrAccessible] else { return try AccessControl(protection: .whenUnlocked, flags: []) }
        guard let protection = (code as? String).flatMap(ProtectionClass.init) else {
            throw StatusError(errSecParam, "the accessibility is not known")
        }
        return try AccessControl(protection: protection, flags: [])
    }
}
