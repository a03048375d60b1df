// `ssh-add -x` and `-X`: a locked agent lists no key and signs nothing.

internal import Crypto
internal import CryptoExtras
import FoundationEssentials
import Glibc
internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanSSHWire
internal import VaubanSecretBytes

final class AgentLock: Sendable {
    private struct Locked: Sendable {
        let salt: [UInt8]
        let digest: [UInt8]
    }

    private let locked = Mutex<Locked?>(nil)
    /// The number of consecutive wrong passphrases. The lock serializes attempts, so that guessing over many connections is no faster than
    /// over one.
    private let wrongGuesses = Mutex<Int32>(0)

    var isLocked: Bool { locked.withLock { $0 != nil } }

    /// Locks the agent. Returns false if it is already locked, or if the passphrase is empty.
    func lock(_ passphrase: SSHPassphrase) -> Bool {
        wrongGuesses.withLock { _ in
            guard !isLocked, passphrase.bytes.count > 0, let salt = try? Entropy.bytes(16), let digest = Self.digest(passphrase, salt)
            else { return false }
            locked.withLock { $0 = Locked(salt: salt, digest: digest) }
            return true
        }
    }

    func unlock(_ passphrase: SSHPassphrase) -> Bool {
        wrongGuesses.withLock { wrong in
            guard let kept = locked.withLock({ $0 }), let digest = Self.digest(passphrase, kept.salt) else { return false }
            let difference = zip(digest, kept.digest).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
            guard difference == 0 else {
                // The delay affects only those who try to unlock.
                if wrong < AgentLimits.unlockPauseMax / AgentLimits.unlockPause { wrong += 1 }
                poll(nil, 0, wrong * AgentLimits.unlockPause)
                return false
            }
            wrong = 0
            locked.withLock { $0 = nil }
            return true
        }
    }

    /// Returns the digest that is stored instead of the passphrase. Takes 16 MiB and about 50 ms.
    private static func digest(_ passphrase: SSHPassphrase, _ salt: [UInt8]) -> [UInt8]? {
        passphrase.bytes.withUnsafeBytes { bytes in
            let key = try? KDF.Scrypt.deriveKey(from: bytes, salt: salt, outputByteCount: 32, rounds: 1 << 14, blockSize: 8, parallelism: 1)
            return key?.withUnsafeBytes { [UInt8]($0) }
        }
    }
}
