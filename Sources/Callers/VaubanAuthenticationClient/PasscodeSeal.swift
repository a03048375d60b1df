// Seals a passcode so that only the enclave can open it, once, for one purpose (RFC 9180, base mode).

internal import Crypto
internal import FoundationEssentials
import Glibc
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

extension EnclaveKeyCard {
    /// Reads the key card that accompanied a challenge. Rooms and agents pass it on, so the sender proves nothing: the kernel must name the
    /// enclave's user as the creator of the sealed memory that holds it.
    init(from descriptors: [Descriptor], of service: Service) throws(Refusal) {
        guard descriptors.count == 1 else {
            throw Refusal(.unavailable, "The enclave's key did not come with the challenge; no passcode was sent")
        }
        guard let bytes = SealedMemory.bytes(of: descriptors[0], madeBy: service.enclaveUID, max: Self.bytesMax) else {
            // Not `unavailable`: callers may retry after that.
            throw Refusal(
                .internalError,
                """
                WARNING: the key that came with the challenge was not made by Vauban's enclave; no passcode was sent, and none should \
                be typed until it is known why
                """
            )
        }
        do { self = try EnclaveKeyCard(derBytes: bytes) } catch {
            throw Refusal(.unavailable, "The enclave's key cannot be read; no passcode was sent")
        }
    }
}

extension SealedPasscode {
    /// Seals the secret that authorizes a request; it is sealed last and bound to all other fields. Without a binding, the seal authorizes
    /// what the challenge states (an unlock, a prompt), or another seal is bound to it.
    /// - Parameter user: The user of the enclave's device whose passcode it is.
    init(
        _ passcode: borrowing SecretBytes, to card: EnclaveKeyCard, for challenge: PasscodeChallenge,
        authorizing binding: SealBinding? = nil, user: UInt32 = geteuid()
    ) throws(Refusal) {
        guard passcode.count <= Self.passcodeBytesMax else {
            throw Refusal(.badParameter, "A passcode has at most \(Self.passcodeBytesMax) bytes")
        }
        do {
            let key = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: card.publicKey)
            let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
            var sender = try HPKE.Sender(recipientKey: key, ciphersuite: suite, info: Data(challenge.sealInfo(user: user)))
            let bound = Data(try binding?.encoded() ?? [])
            let ciphertext = try passcode.withUnsafeBytes { bytes in try sender.seal(bytes, authenticating: bound) }
            self.init(encapsulated: Array(sender.encapsulatedKey), ciphertext: Array(ciphertext))
        } catch {
            // The library's error holds nothing of the passcode, but would not help the user either.
            throw Refusal(.internalError, "the passcode could not be sealed to the enclave")
        }
    }
}
