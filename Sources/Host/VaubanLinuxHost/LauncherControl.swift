// Finds and stops the launcher of a folder (Specs/service.md). The lock file names the holder; the kernel confirms that the lock is held
// and that the process is still the same one.

import Glibc
internal import CVaubanLinux

/// The record that a launcher writes into its folder's lock file once it holds the lock: `launcher PID START` and `sockets FOLDER`, then
/// `ready` when its sockets are bound and its rooms started.
package struct LauncherRecord: Sendable, Hashable {
    package let pid: Int32
    /// When the process started, in kernel ticks since boot, which reveals a reused process number.
    package let start: String
    package let sockets: String
    package let isReady: Bool

    /// Returns the record of the calling process.
    package static func ofSelf(sockets: String, isReady: Bool) throws(SystemError) -> LauncherRecord {
        let pid = getpid()
        guard let start = ProcessDescriptor.start(of: pid) else { throw SystemError("read this process's start", code: EIO) }
        return LauncherRecord(pid: pid, start: start, sockets: sockets, isReady: isReady)
    }

    private init(pid: Int32, start: String, sockets: String, isReady: Bool) {
        self.pid = pid
        self.start = start
        self.sockets = sockets
        self.isReady = isReady
    }

    package init?(text: String) {
        let lines = text.split(separator: "\n")
        guard lines.count == 2 || lines.count == 3 && lines[2] == "ready" else { return nil }
        let words = lines[0].split(separator: " ")
        guard words.count == 3, words[0] == "launcher", let pid = Int32(digits: words[1]), pid > 0, UInt64(digits: words[2]) != nil,
            lines[1].hasPrefix("sockets ")
        else { return nil }
        self.init(
            pid: pid, start: String(words[2]), sockets: String(lines[1].dropFirst("sockets ".count)), isReady: lines.count == 3)
    }

    /// Writes the record into the lock file. The caller must hold the lock.
    package func write(to lock: Descriptor) throws(SystemError) {
        let bytes = Array("launcher \(pid) \(start)\nsockets \(sockets)\n\(isReady ? "ready\n" : "")".utf8)
        // A ready launcher appends a line to its earlier record, so a reader never sees a partial record.
        if !isReady { try LauncherRecord.erase(in: lock) }
        guard pwrite(lock.number, bytes, bytes.count, 0) == bytes.count else { throw SystemError("write the lock file", code: errno) }
    }

    /// Erases the record when the launcher ends, so that nothing of it remains.
    package static func erase(in lock: Descriptor) throws(SystemError) {
        try SystemError.check(ftruncate(lock.number, 0), "write the lock file")
    }

    /// Whether the process that wrote the record still runs.
    fileprivate var isCurrent: Bool { ProcessDescriptor.start(of: pid) == start }
}

package enum LauncherControl {
    package static let lockName = "lock"
    /// The pause between two checks for the record of a launcher that starts, in milliseconds.
    private static let recordPause: Int32 = 10

    /// Returns whether a launcher holds the folder's lock, ready or not.
    package static func isRunning(home: String) -> Bool { openLock(home).map(isHeld) ?? false }

    /// Returns the record of the launcher that holds the folder's lock; nil if there is none or it has not written a record yet.
    package static func running(home: String) -> LauncherRecord? {
        guard let lock = openLock(home), isHeld(lock), let bytes = SmallFile.bytes(of: lock, max: 16384),
            let text = String(validating: bytes, as: UTF8.self), let record = LauncherRecord(text: text), record.isCurrent
        else { return nil }
        return record
    }

    /// Signals the launcher of the folder to stop its rooms and itself, and waits until it has exited. Returns false if none is running.
    /// Waits at most for the time `limit`, in nanoseconds, also for a launcher that has just taken the lock to write its record.
    package static func stop(home: String, within limit: UInt64 = ConnectionLimits.machineTime) throws(SystemError) -> Bool {
        let deadline = MachineClock.monotonic + limit
        var found = running(home: home)
        while found == nil, isRunning(home: home) {
            guard MachineClock.monotonic < deadline else { throw SystemError(Self.unknownHolder(home), code: ETIMEDOUT) }
            // The kernel announces no writes to the lock file, so this checks again after a pause.
            poll(nil, 0, recordPause)
            found = running(home: home)
        }
        guard let record = found else { return false }
        let number = vauban_pidfd_open(record.pid)
        if number == -ESRCH { return false }
        let process = Descriptor(try SystemError.checkNegated(number, "find the launcher"))
        // The descriptor identifies a process only from here on, so this checks that it is still the writer of the record.
        guard record.isCurrent else { return false }
        let sent = vauban_signal_process(process.number, SIGTERM)
        if sent == -ESRCH { return true }
        try SystemError.checkNegated(sent, "stop the launcher")
        var poller = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
        while true {
            let now = MachineClock.monotonic
            guard now < deadline else { throw SystemError("stop the launcher", code: ETIMEDOUT) }
            let ready = poll(&poller, 1, MachineClock.pollTime(until: deadline, from: now))
            if ready > 0 { return true }
            if ready < 0 && errno != EINTR { throw SystemError("wait for the launcher's end", code: errno) }
        }
    }

    private static func unknownHolder(_ home: String) -> String {
        "find the process that holds \(home)/\(lockName), which may run in another container or on another machine"
    }

    private static func openLock(_ home: String) -> Descriptor? {
        let number = open("\(home)/\(lockName)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        return number < 0 ? nil : Descriptor(number)
    }

    /// Tries to take the lock, shared, and releases it at once. A launcher that starts at the same time tries again.
    private static func isHeld(_ lock: Descriptor) -> Bool {
        if flock(lock.number, LOCK_SH | LOCK_NB) == 0 {
            flock(lock.number, LOCK_UN)
            return false
        }
        return errno == EWOULDBLOCK
    }
}
