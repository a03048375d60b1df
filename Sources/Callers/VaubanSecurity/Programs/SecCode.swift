// Signed code (Specs/code-signing.md). A valid signature shows who built a program, not whether that team is trusted.

internal import VaubanCodeSigning

/// Running code: Apple's `SecCode`.
public final class SecCode: NSObject, CFTypeNumbered, Sendable {
    package static let typeID: CFTypeID = 265
    /// The process; nil for this one.
    fileprivate let pid: Int32?

    fileprivate init(pid: Int32? = nil) { self.pid = pid }

    /// The kernel's link to the file that the process executes.
    fileprivate var executable: String { pid.map { "/proc/\($0)/exe" } ?? "/proc/self/exe" }
}

/// A requirement on code: Apple's `SecRequirement`. Vauban cannot create one.
public final class SecRequirement: NSObject, CFTypeNumbered, Sendable {
    package static let typeID: CFTypeID = 266
    private override init() {}
}

/// Options for code functions: Apple's `SecCSFlags`. None has an effect here.
public struct SecCSFlags: OptionSet, Sendable {
    /// The options as a bit set.
    public let rawValue: UInt32
    /// Creates options from a bit set.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// The code has no signature: Apple's `errSecCSUnsigned`.
public let errSecCSUnsigned: OSStatus = -67062

/// The signature is not valid, or the code was changed: Apple's `errSecCSSignatureFailed`.
public let errSecCSSignatureFailed: OSStatus = -67061

/// There is no such process: Apple's `errSecCSNoSuchCode`.
public let errSecCSNoSuchCode: OSStatus = -67065

/// There is no such file: Apple's `errSecCSStaticCodeNotFound`.
public let errSecCSStaticCodeNotFound: OSStatus = -67068

/// Returns the type identifier of `SecCode`: Apple's `SecCodeGetTypeID`.
public func SecCodeGetTypeID() -> CFTypeID { SecCode.typeID }

/// Passes this program's code to `self`: Apple's `SecCodeCopySelf`. Always returns `errSecSuccess`.
@discardableResult
public func SecCodeCopySelf(_ flags: SecCSFlags, _ self: UnsafeMutablePointer<SecCode?>) -> OSStatus {
    `self`.pointee = SecCode()
    return errSecSuccess
}

/// Passes the code of a process to `process`: Apple's older `SecCodeCreateWithPID`.
///
/// - Returns: `errSecSuccess`, or `errSecCSNoSuchCode` if there is no such process.
@discardableResult
public func SecCodeCreateWithPID(_ pid: Int32, _ flags: SecCSFlags, _ process: UnsafeMutablePointer<SecCode?>) -> OSStatus {
    guard pid > 0, FileManager.default.fileExists(atPath: "/proc/\(pid)") else { return errSecCSNoSuchCode }
    process.pointee = SecCode(pid: pid)
    return errSecSuccess
}

/// Passes the file that running code was loaded from: Apple's `SecCodeCopyStaticCode`.
///
/// - Returns: `errSecSuccess`, or `errSecCSNoSuchCode` if the file of the process cannot be determined, as for other users' processes.
@discardableResult
public func SecCodeCopyStaticCode(_ code: SecCode, _ flags: SecCSFlags, _ staticCode: UnsafeMutablePointer<SecStaticCode?>) -> OSStatus {
    guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: code.executable) else { return errSecCSNoSuchCode }
    staticCode.pointee = SecStaticCode(opening: code.executable, path: path)
    return errSecSuccess
}

/// Verifies the signature of the file that running code was loaded from: Apple's `SecCodeCheckValidity`. Returns what
/// ``SecStaticCodeCheckValidity(_:_:_:)`` does for the file. It does not examine the memory of the process, as keychaind's witness does.
public func SecCodeCheckValidity(_ code: SecCode, _ flags: SecCSFlags, _ requirement: SecRequirement?) -> OSStatus {
    SecStaticCode.validity(of: CodeReader.findings(ofFileAt: code.executable), otherwise: errSecCSNoSuchCode)
}
