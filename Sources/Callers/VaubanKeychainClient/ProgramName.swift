// The identifier that the system gives a calling program, by the same rule as the witness's (Specs/caller-identity.md).

internal import Crypto
internal import Glibc
package import VaubanAccessPolicy
internal import VaubanLinuxHost

extension ApplicationIdentifier {
    /// Returns the identifier of the program in this file; nil if the file cannot be read. An interpreter has one here, but none as a
    /// caller.
    package static func ofProgram(at path: String) -> ApplicationIdentifier? {
        try? InstalledFile.applicationIdentifier(path: path) { file in
            var hash = SHA256()
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = read(file.number, &chunk, chunk.count)
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else { throw SystemError("read \(path)", code: errno) }
                if count == 0 { return Array(hash.finalize()) }
                chunk.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            }
        }
    }
}
