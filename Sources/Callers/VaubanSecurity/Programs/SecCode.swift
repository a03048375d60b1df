// Signed code, of which there is none on this system yet: what a program asks is answered, and the answer is no.

/// Running code: Apple's `SecCode`.
public final class SecCode: NSObject, CFTypeNumbered, Sendable {
    package static let typeID: CFTypeID = 265
}

/// What code must be: Apple's `SecRequirement`. None can be made here.
public final class SecRequirement: NSObject, CFTypeNumbered, Sendable {
    package static let typeID: CFTypeID = 266
    private override init() {}
}

/// How code is looked at: Apple's `SecCSFlags`. No flag changes an answer here.
public struct SecCSFlags: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Code carries no signature: Apple's `errSecCSUnsigned`.
public let errSecCSUnsigned: OSStatus = -67062

/// No such process: Apple's `errSecCSNoSuchCode`.
public let errSecCSNoSuchCode: OSStatus = -67065

/// The class number: Apple's `SecCodeGetTypeID`.
public func SecCodeGetTypeID() -> CFTypeID { SecCode.typeID }

/// This program's code: Apple's `SecCodeCopySelf`.
public func SecCodeCopySelf(_ flags: SecCSFlags, _ self: UnsafeMutablePointer<SecCode?>) -> OSStatus {
    `self`.pointee = SecCode()
    return errSecSuccess
}

/// The code of a process: Apple's older `SecCodeCreateWithPID`.
/// - Returns: `errSecCSNoSuchCode` where there is no such process.
public func SecCodeCreateWithPID(_ pid: Int32, _ flags: SecCSFlags, _ process: UnsafeMutablePointer<SecCode?>) -> OSStatus {
    guard pid > 0, FileManager.default.fileExists(atPath: "/proc/\(pid)") else { return errSecCSNoSuchCode }
    process.pointee = SecCode()
    return errSecSuccess
}

/// Whether code is signed as it must be: Apple's `SecCodeCheckValidity`. Always `errSecCSUnsigned`: programs are not signed here.
public func SecCodeCheckValidity(_ code: SecCode, _ flags: SecCSFlags, _ requirement: SecRequirement?) -> OSStatus { errSecCSUnsigned }
