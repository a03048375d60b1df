internal import CVaubanLinux
import Glibc

/// A file descriptor that is closed when its last holder lets go. Close-on-exec is the maker's duty.
package final class Descriptor: Sendable {
    package let number: Int32

    /// Takes over the descriptor.
    package init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    /// A file or folder as a place only: it can be neither read nor changed by this, and no right to do so is asked for.
    package static func place(_ path: String) throws(SystemError) -> Descriptor {
        Descriptor(try SystemError.checkNegated(vauban_open_place(path), "open \(path)"))
    }

    /// A second descriptor for the same open file, close-on-exec.
    package func duplicate() throws(SystemError) -> Descriptor {
        Descriptor(try SystemError.check(fcntl(number, F_DUPFD_CLOEXEC, 3), "duplicate a descriptor"))
    }
}

/// A system call that failed: what was tried, and errno. The text carries no content of any message or file.
package struct SystemError: Error, CustomStringConvertible, Sendable {
    package let attempt: String
    package let code: Int32
    /// A change was made and could not be made durable: it stands now, and a power cut may take it back.
    package let isUnsure: Bool

    package init(_ attempt: String, code: Int32, isUnsure: Bool = false) {
        self.attempt = attempt
        self.code = code
        self.isUnsure = isUnsure
    }

    package var leavingUnsure: SystemError { SystemError(attempt, code: code, isUnsure: true) }

    package var description: String { "could not \(attempt): \(String(cString: strerror(code)))" }

    /// For calls that answer -1 and set errno.
    @discardableResult
    package static func check(_ result: Int32, _ attempt: @autoclosure () -> String) throws(SystemError) -> Int32 {
        if result < 0 { throw SystemError(attempt(), code: errno) }
        return result
    }

    /// For our C shims, which answer -errno.
    @discardableResult
    package static func checkNegated(_ result: Int32, _ attempt: @autoclosure () -> String) throws(SystemError) -> Int32 {
        if result < 0 { throw SystemError(attempt(), code: -result) }
        return result
    }
}
