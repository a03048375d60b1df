// Code signatures, which this system does not have: the functions work, and report unsigned code.

/// Running code: Apple's `SecCode`.
public final class SecCode: NSObject, CFTypeNumbered, Sendable {
    package static let typeID: CFTypeID = 265
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

/// There is no such process: Apple's `errSecCSNoSuchCode`.
public let errSecCSNoSuchCode: OSStatus = -67065

/// Returns the type identifier of `SecCode`: Apple's `SecCodeGetTypeID`.
public func SecCodeGetTypeID() -> CFTypeID { SecCode.typeID }

/// Passes this program's code to `self`: Apple's `SecCodeCopySelf`. Always returns `errSecSuccess`.
public func SecCodeCopySelf(_ flags: SecCSFlags, _ self: UnsafeMutablePointer<SecCode?>) -> OSStatus {
    `self`.pointee = SecCode()
    return errSecSuccess
}

/// Passes the code of a process to `process`: Apple's older `SecCodeCreateWithPID`.
///
/// - Returns: `errSecSuccess`, or `errSecCSNoSuchCode` if there is no such process.
public func SecCodeCreateWithPID(_ pid: Int32, _ flags: SecCSFlags, _ process: UnsafeMutablePointer<SecCode?>) -> OSStatus {
    guard pid > 0, FileManager.default.fileExists(atPath: "/proc/\(pid)") else { return errSecCSNoSuchCode }
    process.pointee = SecCode()
    return errSecSuccess
}

/// Checks a code signature: Apple's `SecCodeCheckValidity`. Always returns `errSecCSUnsigned`: programs are not signed on this system.
public func SecCodeCheckValidity(_ code: SecCode, _ flags: SecCSFlags, _ requirement: SecRequirement?) -> OSStatus { errSecCSUnsigned }
