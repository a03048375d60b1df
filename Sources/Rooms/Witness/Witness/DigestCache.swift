internal import Crypto
import Glibc
internal import Synchronization
package import VaubanLinuxHost

/// SHA-256 digests of files, cached for files that have not changed.
package final class DigestCache: Sendable {
    private struct Kept {
        var digests: [FileKey: (digest: [UInt8], used: UInt64)] = [:]
        var uses: UInt64 = 0
    }

    private let kept = Mutex(Kept())

    package init() {}

    /// Returns the digest of a file, read from its beginning, where its offset must be; nil if it is too large, cannot be read, or changes
    /// meanwhile. Caches it only if `isUnwritten` confirms afterwards that nobody could write the file meanwhile: a write through a mapped
    /// page changes a file without a new change time.
    package func digest(of file: Descriptor, _ key: FileKey, isUnwritten: () -> Bool) -> [UInt8]? {
        let known: [UInt8]? = kept.withLock { kept in
            kept.uses += 1
            kept.digests[key]?.used = kept.uses
            return kept.digests[key]?.digest
        }
        if let known { return known }
        guard key.size <= WitnessLimits.executableBytesMax else { return nil }
        // Before the first byte is read: a later change then falls into a later tick of the file system's clock.
        let isStable = key.isStable
        guard let digest = Self.hash(file), let after = FileKey(file), after.size == key.size, after.modified == key.modified else {
            return nil
        }
        if isStable, after == key, isUnwritten() { keep(digest, for: key) }
        return digest
    }

    private func keep(_ digest: [UInt8], for key: FileKey) {
        kept.withLock { kept in
            if kept.digests.count >= WitnessLimits.digestsMax, let oldest = kept.digests.min(by: { $0.value.used < $1.value.used }) {
                kept.digests[oldest.key] = nil
            }
            kept.uses += 1
            kept.digests[key] = (digest, kept.uses)
        }
    }

    /// Hashes the file through one small buffer.
    private static func hash(_ file: Descriptor) -> [UInt8]? {
        var hash = SHA256()
        var chunk = [UInt8](repeating: 0, count: WitnessLimits.chunkBytes)
        var total: Int64 = 0
        while true {
            let got = read(file.number, &chunk, chunk.count)
            if got < 0 && errno == EINTR { continue }
            if got < 0 { return nil }
            if got == 0 { return Array(hash.finalize()) }
            total += Int64(got)
            guard total <= WitnessLimits.executableBytesMax else { return nil }
            chunk.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<got])) }
        }
    }
}
