internal import Synchronization
package import VaubanCodeSigning
package import VaubanLinuxHost

/// SHA-256 digests and signatures of files, cached for files that have not changed.
package final class DigestCache: Sendable {
    private struct Kept {
        var findings: [FileKey: (findings: CodeFindings, used: UInt64)] = [:]
        var uses: UInt64 = 0
    }

    private let kept = Mutex(Kept())

    package init() {}

    /// Returns the digest of a file, as `findings` does.
    package func digest(of file: Descriptor, _ key: FileKey, isUnwritten: () -> Bool) -> [UInt8]? {
        findings(of: file, key, isUnwritten: isUnwritten)?.digest
    }

    /// Returns the digest and the signature of a file, read from its beginning, where its offset must be; nil if it is too large, cannot
    /// be read, or changes meanwhile. Caches them only if `isUnwritten` confirms afterwards that nobody could write the file meanwhile: a
    /// write through a mapped page changes a file without a new change time.
    package func findings(of file: Descriptor, _ key: FileKey, isUnwritten: () -> Bool) -> CodeFindings? {
        let known: CodeFindings? = kept.withLock { kept in
            kept.uses += 1
            kept.findings[key]?.used = kept.uses
            return kept.findings[key]?.findings
        }
        if let known { return known }
        guard key.size <= CodeReader.fileBytesMax else { return nil }
        // Before the first byte is read: a later change then falls into a later tick of the file system's clock.
        let isStable = key.isStable
        guard let findings = CodeReader.findings(ofFile: file.number, size: key.size), let after = FileKey(file), after.size == key.size,
            after.modified == key.modified
        else { return nil }
        if isStable, after == key, isUnwritten() { keep(findings, for: key) }
        return findings
    }

    private func keep(_ findings: CodeFindings, for key: FileKey) {
        kept.withLock { kept in
            if kept.findings.count >= WitnessLimits.digestsMax, let oldest = kept.findings.min(by: { $0.value.used < $1.value.used }) {
                kept.findings[oldest.key] = nil
            }
            kept.uses += 1
            kept.findings[key] = (findings, kept.uses)
        }
    }
}
