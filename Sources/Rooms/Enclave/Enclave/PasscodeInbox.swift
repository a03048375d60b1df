internal import Crypto
import FoundationEssentials
import VaubanDER
import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanUserModel
package import VaubanUserWire

/// Receives sealed passcodes with a key pair that lasts as long as this enclave runs, and tracks the open challenges. A sealed passcode is
/// valid once, for one challenge, one purpose and one user.
package final class PasscodeInbox: Sendable {
    private struct Open {
        let nonce: [UInt8]
        let purpose: PasscodePurpose
        let user: UInt32
        let until: UInt64
    }

    private let privateKey = Curve25519.KeyAgreement.PrivateKey()
    private let open = ThreadMutex<[Open]>([])
    private let clock: any EnclaveClock

    package init(clock: any EnclaveClock) { self.clock = clock }

    package var card: EnclaveKeyCard { EnclaveKeyCard(publicKey: Array(privateKey.publicKey.rawRepresentation)) }

    package func challenge(_ purpose: PasscodePurpose, for user: UInt32) throws(Refusal) -> PasscodeChallenge {
        let nonce: [UInt8]
        do { nonce = try Entropy.bytes(32) } catch { throw Refusal(.internalError, "there are no random bytes") }
        let now = clock.boot
        open.withLock { list in
            list.removeAll { $0.until <= now }
            // A prompt's challenge is never displaced by another; it is withdrawn with its prompt.
            let mayGiveWay = { (entry: Open) in entry.user == user && entry.purpose != .prompt }
            if purpose != .prompt, list.count(where: mayGiveWay) >= EnclaveLimits.openChallengesMax,
                let oldest = list.firstIndex(where: mayGiveWay)
            {
                list.remove(at: oldest)
            }
            list.append(Open(nonce: nonce, purpose: purpose, user: user, until: now + EnclaveLimits.challengeLifetime))
        }
        return PasscodeChallenge(nonce: nonce, purpose: purpose)
    }

    /// Withdraws a challenge, so that it can no longer be answered.
    package func withdraw(_ challenge: PasscodeChallenge) {
        open.withLock { $0.removeAll { $0.nonce == challenge.nonce } }
    }

    /// Consumes a challenge, whether or not it is valid. Throws if it is not.
    package func use(_ challenge: PasscodeChallenge, for user: UInt32) throws(Refusal) {
        let now = clock.boot
        let found = open.withLock { list -> Bool in
            guard let index = list.firstIndex(where: { $0.nonce == challenge.nonce }) else { return false }
            let entry = list.remove(at: index)
            return entry.purpose == challenge.purpose && entry.user == user && entry.until > now
        }
        guard found else { throw Refusal(.badParameter, "The challenge is not open, or is for something else") }
    }

    /// Opens a passcode that was sealed for a challenge and, if it authorizes a request, for exactly that request.
    package func unseal(
        _ sealed: SealedPasscode, _ challenge: PasscodeChallenge, of user: UInt32, authorizing binding: SealBinding? = nil
    ) throws(Refusal) -> SecretBytes {
        do {
            let bound = Data(try binding?.encoded() ?? [])
            var recipient = try HPKE.Recipient(
                privateKey: privateKey, ciphersuite: FactorSeal.suite, info: Data(challenge.sealInfo(user: user)),
                encapsulatedKey: Data(sealed.encapsulated))
            var opened = try recipient.open(sealed.ciphertext, authenticating: bound)
            return SecretBytes(absorbing: &opened)
        } catch {
            throw Refusal(.badParameter, "The passcode was sealed for another challenge, another request or another enclave")
        }
    }
}
