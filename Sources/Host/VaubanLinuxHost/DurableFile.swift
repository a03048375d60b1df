import Glibc

/// Small state files that are either the old or the new, whatever happens between: written beside, synced, renamed,
/// and the folder synced.
package struct DurableFile: Sendable {
    package let folder: PrivateFolder
    package let name: String

    package init(_ name: String, in folder: PrivateFolder) {
        self.folder = folder
        self.name = name
    }

    package enum Content: Sendable {
        case absent
        case bytes([UInt8])
    }

    /// The file's bytes; throws when it is there and cannot be read, or is not a plain file of ours.
    package func read(max: Int) throws(SystemFault) -> Content {
        let number = openat(folder.descriptor.number, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if number < 0 && errno == ENOENT { return .absent }
        let file = Descriptor(try SystemFault.check(number, "open \(name)"))
        var information = stat()
        try SystemFault.check(fstat(number, &information), "look at \(name)")
        guard information.st_mode & S_IFMT == S_IFREG, information.st_uid == geteuid() else {
            throw SystemFault("read \(name), which is not a file of this user", code: EPERM)
        }
        guard let bytes = SmallFile.bytes(of: file, max: max) else { throw SystemFault("read \(name)", code: EIO) }
        return .bytes(bytes)
    }

    /// Replaces the file. When this returns, the new content survives a power cut; when it throws, the old one stands.
    package func replace(with bytes: [UInt8]) throws(SystemFault) {
        // `withUnsafeBytes` of an array cannot pass a typed error on, hence the result in between.
        let result: Result<Void, SystemFault> = bytes.withUnsafeBytes { content in
            do throws(SystemFault) { return .success(try replace(with: content)) } catch { return .failure(error) }
        }
        try result.get()
    }

    /// The same for bytes that are lent, such as a secret's.
    package func replace(with bytes: UnsafeRawBufferPointer) throws(SystemFault) {
        let temporary = "\(name).new"
        let directory = folder.descriptor.number
        let number = try SystemFault.check(
            openat(directory, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600), "write \(name)")
        let file = Descriptor(number)
        do throws(SystemFault) {
            var written = 0
            while written < bytes.count {
                let count = write(number, bytes.baseAddress?.advanced(by: written), bytes.count - written)
                if count < 0 && errno == EINTR { continue }
                if count < 0 { throw SystemFault("write \(name)", code: errno) }
                written += count
            }
            try SystemFault.check(fsync(number), "sync \(name)")
            try SystemFault.check(renameat(directory, temporary, directory, name), "put \(name) in place")
        } catch {
            unlinkat(directory, temporary, 0)
            throw error
        }
        withExtendedLifetime(file) {}
        try SystemFault.check(fsync(directory), "sync the folder of \(name)")
    }

    /// Puts a file that cannot be used aside under a new name, so that nothing writes over it, and answers that name.
    package func quarantine() throws(SystemFault) -> String {
        let directory = folder.descriptor.number
        for number in 1...999 {
            let aside = "\(name).quarantined-\(number)"
            guard !folder.contains(aside) else { continue }
            try SystemFault.check(renameat(directory, name, directory, aside), "put \(name) aside")
            try SystemFault.check(fsync(directory), "sync the folder of \(name)")
            return aside
        }
        throw SystemFault("put \(name) aside", code: EEXIST)
    }
}
