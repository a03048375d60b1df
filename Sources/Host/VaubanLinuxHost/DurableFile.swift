import Glibc

/// Small state files that have either the old or the new content, whatever happens in between: written beside, synced, renamed, and the
/// folder synced. Specs/state-files.md describes what is on the disk after each step.
package struct DurableFile: Sendable {
    package let folder: any StateFolder
    package let name: String

    package init(_ name: String, in folder: any StateFolder) {
        self.folder = folder
        self.name = name
    }

    package enum Content: Sendable {
        case absent
        case bytes([UInt8])
    }

    /// Returns the file's bytes. Throws if it exists and cannot be read, or is not a plain file of this user.
    ///
    /// With `syncing`, the returned content survives a power cut. Otherwise a process that was killed during a write may have left content
    /// that is visible but not yet on the disk, and state derived from it could outlive it.
    package func read(max: Int, syncing: Bool = false) throws(SystemError) -> Content {
        if syncing { try folder.sync() }
        guard let file = try folder.file(name) else { return .absent }
        if syncing { try file.sync() }
        var content: [UInt8] = []
        while content.count <= max {
            let got = try Self.chunk(of: file, at: content.count)
            if got.isEmpty { return .bytes(content) }
            content.append(contentsOf: got)
        }
        throw SystemError("read \(name), which is too large", code: EFBIG)
    }

    private static func chunk(of file: any StateFile, at offset: Int) throws(SystemError) -> [UInt8] {
        var fault: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            do throws(SystemError) { count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset) } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        return bytes
    }

    /// Replaces the file. When this returns, the new content survives a power cut. When this throws, the old content remains durable,
    /// unless the error is `isUnsure`: then the new content is visible, and a power cut may restore the old one.
    package func replace(with bytes: [UInt8]) throws(SystemError) {
        // `withUnsafeBytes` of an array cannot rethrow a typed error, hence the result.
        let result: Result<Void, SystemError> = bytes.withUnsafeBytes { content in
            do throws(SystemError) { return .success(try replace(with: content)) } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Does the same for borrowed bytes, such as a secret's.
    package func replace(with bytes: UnsafeRawBufferPointer) throws(SystemError) {
        let temporary = "\(name).new"
        // A file left by a killed process is removed, not overwritten: after a power cut during its rename, some file systems show one file
        // under both names.
        folder.remove(temporary)
        let file = try folder.create(temporary)
        do throws(SystemError) {
            var written = 0
            while written < bytes.count {
                let count = try file.write(UnsafeRawBufferPointer(rebasing: bytes[written...]), at: written)
                guard count > 0 else { throw SystemError("write \(name)", code: EIO) }
                written += count
            }
            try file.sync()
            try folder.rename(temporary, to: name)
        } catch {
            folder.remove(temporary)
            throw error
        }
        // A rollback would need one more rename on a disk that just failed to persist one, so nothing is undone, and the error says so.
        do throws(SystemError) { try folder.sync() } catch { throw error.leavingUnsure }
    }

    /// Moves an unusable file aside under a new name, so that nothing overwrites it. Returns that name.
    package func quarantine() throws(SystemError) -> String {
        for number in 1...999 {
            let aside = "\(name).quarantined-\(number)"
            guard !folder.contains(aside) else { continue }
            try folder.rename(name, to: aside)
            do throws(SystemError) { try folder.sync() } catch { throw error.leavingUnsure }
            return aside
        }
        throw SystemError("put \(name) aside", code: EEXIST)
    }
}
