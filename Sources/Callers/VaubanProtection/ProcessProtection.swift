internal import CVaubanProtection
internal import Glibc
internal import VaubanLinuxHost

/// Keeps the user's other programs out of this process, and on request limits what it can do if it is taken over.
///
/// Call ``restrict(_:keeping:)`` as the first thing in `main`, before the program reads a secret or starts a thread:
///
/// ```swift
/// try ProcessProtection.restrict(ProcessProtection.supported.subtracting([.noNewCode, .noAbstractSockets]))
/// ```
///
/// Until the call, another program of the same user can trace this one and put code into it. `vauban protect` closes that gap: it starts a
/// program with this protection.
public enum ProcessProtection {
    /// What else to forbid the process. Every set forbids tracing, reading its memory, environment and descriptors, and core dumps.
    ///
    /// Everything except ``sealedCode`` also holds for programs that the process starts.
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
        /// The system calls of debuggers and administrators fail with `EPERM`: those that trace and read other processes, load code into
        /// the kernel, mount, or type into the terminal, and those that limit a process by its number or make this one's memory a file
        /// that it could write code into (seccomp). Programs for 32 bits cannot run. Implies ``noNewPrivileges``.
        public static let noIntrusiveCalls = Measures(rawValue: 4)
        /// New namespaces fail with `EPERM` (seccomp), and so do sandboxes that need them. Implies ``noNewPrivileges``.
        public static let noNamespaces = Measures(rawValue: 8)
        /// Tracing, reading and signals reach only processes that this one starts (Landlock, since Linux 6.12). No control group can be
        /// changed either, since that could end other processes. The kernel then also refuses mounts, and new entries in `/`. Implies
        /// ``noNewPrivileges``.
        public static let noForeignProcesses = Measures(rawValue: 16)
        /// No connection reaches an abstract Unix address of other processes (Landlock, since Linux 6.12). Not for programs with a window
        /// on X11, whose server has such an address. Implies ``noNewPrivileges``.
        public static let noAbstractSockets = Measures(rawValue: 32)
        /// The content of the system's programs, libraries, settings and boot files cannot be changed, as in `/usr` and `/etc`, nor the
        /// kernel's settings in `/sys`, and no devices can be made (Landlock, since Linux 6.12). Root's programs cannot write in `/proc`
        /// either. Files' modes, owners and dates can be changed, and root's programs can write to disks. Implies ``noNewPrivileges``.
        public static let noSystemChanges = Measures(rawValue: 64)
        /// The code and constants of the executable and its libraries that are loaded stay as they are: no mapping of them can be made
        /// writable or be replaced (`mseal`, since Linux 6.10). With ``noIntrusiveCalls``, the process cannot write over them through
        /// `/proc/self/mem` either, unless it is root's. They cannot be unloaded.
        public static let sealedCode = Measures(rawValue: 128)
    }

    /// Why a process could not be restricted: the kernel, or a program that traces it.
    public struct RestrictionError: Error, CustomStringConvertible, Sendable {
        /// The system's error number, such as `EPERM` if a debugger traces the process, or `ENOSYS` if the kernel lacks a measure.
        public let code: Int32
        /// A sentence for the log.
        public let description: String
    }

    /// The measures that this kernel has.
    public static var supported: Measures {
        var found: Measures = .noNewPrivileges
        if vauban_protection_can_forbid_new_code() { found.insert(.noNewCode) }
        if vauban_protection_has_filters() { found.formUnion(Self.byFilter) }
        if vauban_protection_has_landlock() { found.formUnion(Self.byDomain) }
        if vauban_protection_has_sealing() { found.insert(.sealedCode) }
        return found
    }

    private static let byFilter: Measures = [.noIntrusiveCalls, .noNamespaces]
    private static let byDomain: Measures = [.noForeignProcesses, .noAbstractSockets, .noSystemChanges]

    /// Restricts this process for good, and then checks that no program traces it.
    ///
    /// - Parameters:
    ///   - measures: What else to forbid.
    ///   - paths: Files and folders that the process and its children cannot change, such as their own executable (Landlock, since Linux
    ///     6.12). In the folders above these, they can make, rename and remove nothing either.
    /// - Throws: ``RestrictionError`` if the kernel lacks a measure, if a path does not exist, if another thread runs that a measure would
    ///   not reach, or if a program traces this process already. Measures before the one that failed remain.
    public static func restrict(_ measures: Measures = [], keeping paths: [String] = []) throws(RestrictionError) {
        do throws(SystemError) {
            // Only the seccomp filter also applies to threads that already run, and denies them new privileges too.
            let isByThread = measures.contains(.noNewPrivileges) && measures.isDisjoint(with: byFilter)
            if isByThread || !measures.isDisjoint(with: byDomain) || !paths.isEmpty,
                try ProcessHardening.number(of: "Threads") != 1
            {
                throw SystemError("confine the process after it started threads; restrict it first in main", code: EBUSY)
            }
            try ProcessHardening.restrict(
                forbidsNewPrivileges: measures.contains(.noNewPrivileges), forbidsNewCode: measures.contains(.noNewCode))
            if !measures.isDisjoint(with: byDomain) || !paths.isEmpty { try enterDomain(measures, paths) }
            if measures.contains(.sealedCode) {
                try require(vauban_protection_has_sealing(), "seal the code: this kernel has no mseal (since Linux 6.10)")
                try SystemError.checkNegated(vauban_protection_seal_code(), "seal the code")
            }
            if !measures.isDisjoint(with: byFilter) {
                try require(vauban_protection_has_filters(), "refuse system calls: this kernel has no filters (CONFIG_SECCOMP_FILTER)")
                try SystemError.checkNegated(
                    vauban_protection_refuse_calls(!measures.contains(.noIntrusiveCalls), !measures.contains(.noNamespaces)),
                    "refuse system calls")
            }
        } catch {
            throw RestrictionError(code: error.code, description: error.description)
        }
    }

    private static func require(_ isThere: Bool, _ attempt: String) throws(SystemError) {
        if !isThere { throw SystemError(attempt, code: ENOSYS) }
    }

    private static func enterDomain(_ measures: Measures, _ paths: [String]) throws(SystemError) {
        try require(vauban_protection_has_landlock(), "confine the process: this kernel has no Landlock of version 6 (since Linux 6.12)")
        var kept: [UnsafePointer<CChar>?] = []
        defer { for path in kept { free(UnsafeMutablePointer(mutating: path)) } }
        for path in paths {
            guard let whole = realpath(path, nil) else { throw SystemError("find \(path)", code: errno) }
            kept.append(UnsafePointer(whole))
        }
        let result = kept.withUnsafeBufferPointer { kept in
            var domain = vauban_protection_domain(
                keeps_signals: measures.contains(.noForeignProcesses), keeps_abstract_sockets: measures.contains(.noAbstractSockets),
                keeps_system_files: measures.contains(.noSystemChanges), kept: kept.baseAddress, kept_count: kept.count)
            return vauban_protection_enter_domain(&domain)
        }
        try SystemError.checkNegated(result, "confine the process")
    }
}
