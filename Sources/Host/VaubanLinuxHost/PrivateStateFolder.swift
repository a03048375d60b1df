import Glibc

/// The steps of a state write on Linux.
extension PrivateFolder: StateFolder {
    package func file(_ name: String) throws(SystemError) -> (any StateFile)? {
        // Non-blocking, since opening a pipe in the file's place would block the room until another process writes to it.
        let number = openat(descriptor.number, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if number < 0 && errno == ENOENT { return nil }
        let file = Descriptor(try SystemError.check(number, "open \(name)"))
        var information = stat()
        try SystemError.check(fstat(number, &information), "look at \(name)")
        guard information.st_mode & S_IFMT == S_IFREG, information.st_uid == geteuid() else {
            throw SystemError("read \(name), which is not a file of this user", code: EPERM)
        }
        return PrivateFile(descriptor: file, name: name)
    }

    package func create(_ name: String) throws(SystemError) -> any StateFile {
        let number = openat(descriptor.number, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        return PrivateFile(descriptor: Descriptor(try SystemError.check(number, "make \(name)")), name: name)
    }

    package func rename(_ name: String, to new: String) throws(SystemError) {
        try SystemError.check(renameat(descriptor.number, name, descriptor.number, new), "put \(new) in place")
    }

    package func sync() throws(SystemError) {
        try SystemError.check(fsync(descriptor.number), "sync the folder \(path)")
    }

    package func names() throws(SystemError) -> [String] {
        // Opened again, since a duplicate would share the position of an earlier listing.
        let number = try SystemError.check(openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "list \(path)")
        guard let stream = fdopendir(number) else {
            close(number)
            throw SystemError("list \(path)", code: errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw SystemError("list \(path)", code: errno) }
                return names
            }
            guard let first = entry.pointer(to: \.d_name) else { continue }
            let name = String(cString: UnsafeRawPointer(first).assumingMemoryBound(to: CChar.self))
            if name != "." && name != ".." { names.append(name) }
        }
    }
}

private struct PrivateFile: StateFile {
    let descriptor: Descriptor
    let name: String

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
        while true {
            let count = pread(descriptor.number, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw SystemError("read \(name)", code: errno) }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
        while true {
            let count = pwrite(descriptor.number, bytes.baseAddress, bytes.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw SystemError("write \(name)", code: errno) }
        }
    }

    func sync() throws(SystemError) {
        try SystemError.check(fsync(descriptor.number), "sync \(name)")
    }
}
