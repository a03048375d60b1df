internal import CVaubanLinux
import Glibc

/// A file descriptor that is closed with its last reference. Its creator must set close-on-exec.
package final class Descriptor: Sendable {
    package let number: Int32

    /// Takes ownership of the descriptor.
    package init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    /// Opens a file or folder as a location only (O_PATH), which requires no right on it and permits neither reading nor changing it.
    package static func place(_ path: String) throws(SystemError) -> Descriptor {
        Descriptor(try SystemError.checkNegated(vauban_open_place(path), "open \(path)"))
    }

    /// Returns a second descriptor for the same open file, close-on-exec.
    package func duplicate() throws(SystemError) -> Descriptor {
        Descriptor(try SystemError.check(fcntl(number, F_DUPFD_CLOEXEC, 3), "duplicate a descriptor"))
    }
}

/// A failed system call: what was attempted, and errno. The machine is to blame, or its disk (`isFullDisk`). The text contains no content
/// of messages or files.
package struct SystemError: Error, CustomStringConvertible, Sendable {
    package let attempt: String
    package let code: Int32
    /// Whether a change was made but may not be durable, so that a power cut could undo it.
    package let isUnsure: Bool

    package init(_ attempt: String, code: Int32, isUnsure: Bool = false) {
        self.attempt = attempt
        self.code = code
        self.isUnsure = isUnsure
    }

    package var leavingUnsure: SystemError { SystemError(attempt, code: code, isUnsure: true) }

    package var description: String { "could not \(attempt): \(String(cString: strerror(code)))" }

    /// The error as a complete sentence.
    package var sentence: String { "Could not \(attempt): \(String(cString: strerror(code)))" }

    /// Checks the result of a call that returns -1 and sets errno.
    @discardableResult
    package static func check(_ result: Int32, _ attempt: @autoclosure () -> String) throws(SystemError) -> Int32 {
        if result < 0 { throw SystemError(attempt(), code: errno) }
        return result
    }

    /// Checks the result of one of the C modules' functions, which return -errno.
    @discardableResult
    package static func checkNegated(_ result: Int32, _ attempt: @autoclosure () -> String) throws(SystemError) -> Int32 {
        if result < 0 { throw SystemError(attempt(), code: -result) }
        return result
    }
}
