internal import CVaubanLinux
import Glibc

/// A copy of the environment variables that decide which service a process uses. Each call compares it with the present ones, which makes
/// no strings, unlike `ServiceEnvironment`.
package struct ServiceVariables: Sendable {
    private static let names = ["VAUBAN_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "HOME"]

    private let values: [[CChar]?]
    /// Whether nothing else decides: a relative path depends on the working folder, and without a home folder the user's account counts.
    private let decideAlone: Bool

    package static var ofThisProcess: ServiceVariables {
        let values = names.map { name in getenv(name).map { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) } }
        let isAbsolute = values.map { $0?.first == CChar(bitPattern: UInt8(ascii: "/")) }
        let areUsable = zip(values, isAbsolute).allSatisfy { $0.0 == nil || $0.1 }
        let hasHome = isAbsolute.suffix(2).contains(true)
        return ServiceVariables(values: values, decideAlone: areUsable && hasHome && !vauban_is_privileged())
    }

    /// Whether this process still has these variables, and nothing else decides.
    package var areCurrent: Bool {
        guard decideAlone else { return false }
        for (name, value) in zip(Self.names, values) {
            switch (getenv(name), value) {
            case (nil, nil): continue
            case (let present?, let value?):
                guard value.withUnsafeBufferPointer({ known in known.baseAddress.map { strcmp(present, $0) == 0 } }) == true else {
                    return false
                }
            default: return false
            }
        }
        return true
    }
}
