// The backend without hardware: a device secret in a file that only enclaved's user can read. SECURITY.md states what it cannot prevent.

internal import Crypto
package import Enclave
import Glibc
package import VaubanLinuxHost
package import VaubanSecretBytes

/// The device secret: 32 random bytes, created at the first use in the file `device-secret` after a line that names the format. They are
/// read directly into secret memory.
package final class DeviceSecret: EnclaveBackend {
    private let secret: SecretBytes
    package let deviceIdentifier: [UInt8]

    private static let name = "device-secret"
    private static let heading = Array("vauban device secret 1\n".utf8)
    private static let secretBytes = 32

    /// Opens the secret of a state folder, or creates it in a new folder. If users' state exists without the secret, the secret was lost,
    /// and this throws, since another secret would open nothing.
    package init(in folder: some StateFolder) throws(BackendError) {
        let loaded: SecretBytes
        do throws(SystemError) {
            if let existing = try Self.read(in: folder) {
                loaded = existing
            } else {
                guard !folder.contains(FileStateStore.folderName) else {
                    throw SystemError(
                        "find the device secret that the existing keychains need; put back \(folder.path)/\(Self.name)", code: ENOENT)
                }
                loaded = try Self.make(in: folder)
            }
        } catch {
            throw BackendError(error.description)
        }
        let identifier = Self.derive(from: loaded, label: "vauban device identifier v1", context: [])
        deviceIdentifier = identifier.withUnsafeBytes { Array($0.prefix(16)) }
        secret = loaded
    }

    package func deviceKey(label: String, context: [UInt8]) throws(BackendError) -> SecretBytes {
        Self.derive(from: secret, label: label, context: context)
    }

    package func tangle(_ input: borrowing SecretBytes, label: String, context: [UInt8]) throws(BackendError) -> SecretBytes {
        let key = Self.derive(from: secret, label: label, context: context)
        return key.withUnsafeBytes { keyBytes in
            input.withUnsafeBytes { bytes in
                let code = HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: keyBytes))
                return SecretBytes(count: SHA256.byteCount) { target in code.withUnsafeBytes { target.copyMemory(from: $0) } }
            }
        }
    }

    private static func derive(from secret: borrowing SecretBytes, label: String, context: [UInt8]) -> SecretBytes {
        let derived = secret.withUnsafeBytes {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: $0), info: Array(label.utf8) + [0] + context, outputByteCount: secretBytes)
        }
        return SecretBytes(count: secretBytes) { target in derived.withUnsafeBytes { target.copyMemory(from: $0) } }
    }

    private static func read(in folder: some StateFolder) throws(SystemError) -> SecretBytes? {
        guard let file = try folder.file(name) else { return nil }
        // If a process was killed while it created the secret, a power failure could still remove the file, and every keybag from here on
        // needs it.
        try folder.sync()
        try file.sync()
        let total = heading.count + secretBytes
        // Reads one byte more than the format has, so that a longer file is detected.
        let content = try SecretBytes(count: total + 1) { (target) throws(SystemError) in
            guard try file.read(into: target, at: 0) == total else {
                throw SystemError("read the device secret: it has the wrong length; put back a good copy", code: EINVAL)
            }
        }
        guard content.withUnsafeBytes({ $0.prefix(heading.count).elementsEqual(heading) }) else {
            throw SystemError("read the device secret: its format is unknown", code: EINVAL)
        }
        return content.part(heading.count..<total)
    }

    private static func make(in folder: some StateFolder) throws(SystemError) -> SecretBytes {
        let fresh = try Entropy.secret(secretBytes)
        let content = SecretBytes(count: heading.count + secretBytes) { target in
            target.copyBytes(from: heading)
            fresh.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[heading.count...]).copyMemory(from: $0) }
        }
        try content.withUnsafeBytes { (bytes) throws(SystemError) in try DurableFile(name, in: folder).replace(with: bytes) }
        return fresh
    }
}
