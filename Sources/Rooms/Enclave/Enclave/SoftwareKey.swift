// The cryptography of private keys in the software enclave, with swift-crypto.

internal import Crypto
internal import FoundationEssentials
package import VaubanKeyWire
package import VaubanRefusal
package import VaubanSecretBytes

/// The result of using a private key.
package enum KeyResult: ~Copyable {
    case signature([UInt8])
    case shared(SecretBytes)
}

/// A private key that is open for one operation. It is erased with its last reference, by the library or by the room's `free`, which
/// overwrites.
package final class SoftwareKey: Sendable {
    private enum Material: Sendable {
        case p256Signing(P256.Signing.PrivateKey)
        case p256Agreement(P256.KeyAgreement.PrivateKey)
        case mldsa65(MLDSA65.PrivateKey)
        case mldsa87(MLDSA87.PrivateKey)
        case mlkem768(MLKEM768.PrivateKey)
        case mlkem1024(MLKEM1024.PrivateKey)
    }

    private let material: Material

    /// Restores the key from the bytes that `make` returned.
    package init(_ kind: EnclaveKeyKind, _ secret: borrowing SecretBytes, for operation: KeyOperation) throws(Refusal) {
        do {
            material = try secret.withUnsafeBytes { (bytes) throws(any Error) -> Material in
                switch (kind, operation) {
                case (.p256, .sign): .p256Signing(try P256.Signing.PrivateKey(rawRepresentation: bytes))
                case (.p256, _): .p256Agreement(try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes))
                case (.mldsa65, _): .mldsa65(try MLDSA65.PrivateKey(seedRepresentation: bytes, publicKey: nil))
                case (.mldsa87, _): .mldsa87(try MLDSA87.PrivateKey(seedRepresentation: bytes, publicKey: nil))
                case (.mlkem768, _): .mlkem768(try MLKEM768.PrivateKey(seedRepresentation: bytes, publicKey: nil))
                case (.mlkem1024, _): .mlkem1024(try MLKEM1024.PrivateKey(seedRepresentation: bytes, publicKey: nil))
                }
            }
        } catch {
            throw Refusal(.keyDamaged)
        }
    }

    /// Signs a digest or a message, or computes the secret shared with the other party. An ECDSA signature is r ‖ s.
    package func use(_ input: [UInt8]) throws(Refusal) -> KeyResult {
        do {
            switch material {
            case .p256Signing(let key): return .signature(Array(try key.signature(for: GivenDigest(bytes: input)).rawRepresentation))
            case .p256Agreement(let key):
                let secret = try key.sharedSecretFromKeyAgreement(with: P256.KeyAgreement.PublicKey(x963Representation: input))
                return .shared(
                    SecretBytes(count: P256.KeyAgreement.PrivateKey.sharedBytes) { target in
                        secret.withUnsafeBytes { target.copyMemory(from: $0) }
                    })
            case .mldsa65(let key): return .signature(Array(try key.signature(for: input)))
            case .mldsa87(let key): return .signature(Array(try key.signature(for: input)))
            case .mlkem768(let key): return .shared(SecretBytes(try key.decapsulate(input)))
            case .mlkem1024(let key): return .shared(SecretBytes(try key.decapsulate(input)))
            }
        } catch {
            throw Refusal(.badParameter, "The key cannot process this data")
        }
    }

    /// Makes a new key. Returns its bytes and its public half.
    static func make(_ kind: EnclaveKeyKind) throws(Refusal) -> NewKey {
        func new(_ secret: Data, _ publicKey: Data) -> NewKey {
            var secret = secret
            return NewKey(secret: SecretBytes(absorbing: &secret), publicKey: Array(publicKey))
        }
        do {
            switch kind {
            case .p256:
                // The compact representation allows the X coordinate alone to identify the public half.
                let key = P256.KeyAgreement.PrivateKey(compactRepresentable: true)
                return new(key.rawRepresentation, key.publicKey.x963Representation)
            case .mldsa65:
                let key = try MLDSA65.PrivateKey()
                return new(key.seedRepresentation, key.publicKey.rawRepresentation)
            case .mldsa87:
                let key = try MLDSA87.PrivateKey()
                return new(key.seedRepresentation, key.publicKey.rawRepresentation)
            case .mlkem768:
                let key = try MLKEM768.PrivateKey()
                return new(key.seedRepresentation, key.publicKey.rawRepresentation)
            case .mlkem1024:
                let key = try MLKEM1024.PrivateKey()
                return new(key.seedRepresentation, key.publicKey.rawRepresentation)
            }
        } catch {
            throw Refusal(.internalError, "a key cannot be made")
        }
    }
}

struct NewKey: ~Copyable {
    let secret: SecretBytes
    let publicKey: [UInt8]
}

extension P256.KeyAgreement.PrivateKey {
    /// The length of the X coordinate.
    fileprivate static let sharedBytes = 32
}

/// A digest of any length; the curve uses its leftmost bits. `VaubanSecurity` has its own: no module below
/// both has cryptography.
private struct GivenDigest: Digest {
    static var byteCount: Int { 0 }
    let bytes: [UInt8]

    func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value { try bytes.withUnsafeBytes(body) }
    func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
    var description: String { "digest" }
}
