import FoundationEssentials
internal import Crypto
internal import CryptoExtras
internal import VaubanSecretBytes

/// The encryption of secrets between one client and the service.
struct TransferSession: Sendable {
    enum Algorithm: String {
        case plain
        case aes = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
    }

    let path: String
    /// The unique name of the client that opened the session; other clients cannot use it.
    let client: String
    /// The key; nil for a plain session.
    let key: SymmetricKey?

    private static let blockBytes = 16

    /// Returns the secret, encrypted for the session, as the specification's structure `(oayays)`.
    func sealed(_ secret: borrowing SecretBytes, contentType: String) throws -> BusValue {
        var parameters = SharedSecret(copying: [])
        var value: SharedSecret
        if let key {
            let vector = AES._CBC.IV()
            var ciphertext = try secret.withUnsafeBytes { try AES._CBC.encrypt($0, using: key, iv: vector) }
            parameters = SharedSecret(copying: Array(vector))
            value = SharedSecret(SecretBytes(absorbing: &ciphertext))
        } else {
            value = SharedSecret(secret.duplicate())
        }
        return .structure([.path(path), .bytes(parameters), .bytes(value), .string(contentType)])
    }

    /// Decrypts a secret that a client sent, and returns it.
    func opened(_ parameters: SharedSecret, _ value: SharedSecret) throws(BusError) -> SharedSecret {
        guard let key else {
            guard parameters.bytes.isEmpty else {
                throw BusError(.invalidArguments, "A secret of a plain session has no parameters")
            }
            return value
        }
        guard parameters.bytes.count == Self.blockBytes else {
            throw BusError(.invalidArguments, "The parameter of an encrypted secret has \(Self.blockBytes) bytes")
        }
        do {
            let vector = try AES._CBC.IV(ivBytes: parameters.array)
            var secret = try value.bytes.withUnsafeBytes { try AES._CBC.decrypt($0, using: key, iv: vector) }
            return SharedSecret(SecretBytes(absorbing: &secret))
        } catch {
            throw BusError(.invalidArguments, "The secret cannot be decrypted")
        }
    }
}
