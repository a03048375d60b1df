// `ssh-add -x` and `-X`: while the agent is locked it shows no key and signs nothing.

internal import Crypto
internal import CryptoExtras
import FoundationEssentials
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
    /// Attempts are serialized, so that many connections cannot guess faster than one.
    private let guesses = Mutex(())

    var isLocked: Bool { locked.withLock { $0 != nil } }

    /// Locks the agent. Returns false if it is locked already.
    func lock(_ passphrase: SSHPassphrase) -> Bool {
        guesses.withLock { _ in
            guard !isLocked, let salt = try? Entropy.bytes(16), let digest = Self.digest(passphrase, salt) else { return false }
            locked.withLock { $0 = Locked(salt: salt, digest: digest) }
            return true
        }
    }

    func unlock(_ passphrase: SSHPassphrase) -> Bool {
        guesses.withLock { _ in
            guard let kept = locked.withLock({ $0 }), let digest = Self.digest(passphrase, kept.salt) else { return false }
            let difference = zip(digest, kept.digest).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
            guard difference == 0 else { return false }
            locked.withLock { $0 = nil }
            return true
        }
    }

    /// Returns the digest that is stored in place of the passphrase. Takes 16 MiB and about 50 ms.
    private static func digest(_ passphrase: SSHPassphrase, _ salt: [UInt8]) -> [UInt8]? {
        passphrase.bytes.withUnsafeBytes { bytes in
            let key = try? KDF.Scrypt.deriveKey(from: bytes, salt: salt, outputByteCount: 32, rounds: 1 << 14, blockSize: 8, parallelism: 1)
            return key?.withUnsafeBytes { [UInt8]($0) }
        }
    }
}
