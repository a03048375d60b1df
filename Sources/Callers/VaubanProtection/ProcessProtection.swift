internal import VaubanLinuxHost

/// Keeps the user's other programs out of this process.
///
/// Call ``restrict(_:)`` as the first thing in `main`, before the program reads a secret:
///
/// ```swift
/// try ProcessProtection.restrict()
/// ```
///
/// Until the call, another program of the same user can trace this one and put code into it. `vauban protect` closes that gap: it starts a
/// program with this protection.
public enum ProcessProtection {
    /// What else to forbid the process. Every set forbids tracing, reading its memory, environment and descriptors, and core dumps.
    public struct Measures: OptionSet, Sendable {
        /// The bits of the set.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Neither this process nor its children get new privileges, so `sudo` and the like do not work in them (`no_new_privs`).
        public static let noNewPrivileges = Measures(rawValue: 1)
        /// Code can only come from files: memory that was writable never becomes executable, in this process and its children
        /// (`PR_SET_MDWE`, since Linux 6.3). Not for programs that compile code while they run.
        public static let noNewCode = Measures(rawValue: 2)
    }

    /// Why a process could not be restricted: the kernel, or a program that traces it.
    public struct RestrictionError: Error, CustomStringConvertible, Sendable {
        /// The system's error number, such as `EPERM` if a debugger traces the process.
        public let code: Int32
        /// A sentence for the log.
        public let description: String
    }

    /// Restricts this process for good, and then checks that no program traces it.
    ///
    /// - Throws: ``RestrictionError`` if the kernel lacks a measure, or if a program traces this one already.
    public static func restrict(_ measures: Measures = []) throws(RestrictionError) {
        do throws(SystemError) {
            try ProcessHardening.restrict(
                forbidsNewPrivileges: measures.contains(.noNewPrivileges), forbidsNewCode: measures.contains(.noNewCode))
        } catch {
            throw RestrictionError(code: error.code, description: error.description)
        }
    }
}
