// Code in a file, and the contents of its signature (Specs/code-signing.md). The constants are immutable literals, which is why
// `nonisolated(unsafe)` is sound for them.

internal import VaubanAccessPolicy
internal import VaubanCodeSigning

/// Code in a file: Apple's `SecStaticCode`.
public final class SecStaticCode: NSObject, CFTypeNumbered, Sendable {
    package static let typeID: CFTypeID = 267
    /// The path to open, which for a process is the kernel's link.
    fileprivate let place: String
    fileprivate let path: String

    init(opening place: String, path: String) {
        self.place = place
        self.path = path
    }

    /// Returns the status of a signature. Expiry is by this machine's clock.
    static func validity(of findings: CodeFindings?, otherwise missing: OSStatus) -> OSStatus {
        switch findings?.signature {
        case nil: missing
        case .some(.none): errSecCSUnsigned
        case .damaged: errSecCSSignatureFailed
        case .valid(let code, _): code.isExpired(at: Int64(Date().timeIntervalSince1970)) ? errSecCertificateExpired : errSecSuccess
        }
    }
}

/// Returns the type identifier of `SecStaticCode`: Apple's `SecStaticCodeGetTypeID`.
public func SecStaticCodeGetTypeID() -> CFTypeID { SecStaticCode.typeID }

/// Passes the code in a file to `staticCode`: Apple's `SecStaticCodeCreateWithPath`.
///
/// - Returns: `errSecSuccess`, or `errSecCSStaticCodeNotFound` if there is no such file.
@discardableResult
public func SecStaticCodeCreateWithPath(
    _ path: CFURL, _ flags: SecCSFlags, _ staticCode: UnsafeMutablePointer<SecStaticCode?>
) -> OSStatus {
    guard let name = path.path, FileManager.default.fileExists(atPath: name) else { return errSecCSStaticCodeNotFound }
    staticCode.pointee = SecStaticCode(opening: name, path: name)
    return errSecSuccess
}

/// Passes the path of code: Apple's `SecCodeCopyPath`. Always returns `errSecSuccess`.
@discardableResult
public func SecCodeCopyPath(_ staticCode: SecStaticCode, _ flags: SecCSFlags, _ path: UnsafeMutablePointer<CFURL?>) -> OSStatus {
    path.pointee = NSURL(fileURLWithPath: staticCode.path)
    return errSecSuccess
}

/// Verifies the signature of code: Apple's `SecStaticCodeCheckValidity`. It does not check whether the team is trusted: compare
/// `kSecCodeInfoTeamIdentifier`.
///
/// - Returns: `errSecSuccess` for a valid signature; `errSecCSUnsigned`; `errSecCSSignatureFailed` if the signature is damaged or the file
///   was changed; `errSecCertificateExpired`; or `errSecCSStaticCodeNotFound` if the file cannot be read or is larger than 256 MiB.
public func SecStaticCodeCheckValidity(_ staticCode: SecStaticCode, _ flags: SecCSFlags, _ requirement: SecRequirement?) -> OSStatus {
    SecStaticCode.validity(of: CodeReader.findings(ofFileAt: staticCode.place), otherwise: errSecCSStaticCodeNotFound)
}

/// Passes the contents of the signature of code: Apple's `SecCodeCopySigningInformation`. The dictionary of unsigned code has
/// `kSecCodeInfoMainExecutable` alone.
///
/// - Returns: `errSecSuccess`, also for an expired signature; `errSecCSSignatureFailed` if the signature is damaged or the file was
///   changed; or `errSecCSStaticCodeNotFound` if the file cannot be read.
@discardableResult
public func SecCodeCopySigningInformation(
    _ code: SecStaticCode, _ flags: SecCSFlags, _ information: UnsafeMutablePointer<CFDictionary?>
) -> OSStatus {
    guard let findings = CodeReader.findings(ofFileAt: code.place) else { return errSecCSStaticCodeNotFound }
    let found: NSMutableDictionary = [kSecCodeInfoMainExecutable: NSURL(fileURLWithPath: code.path)]
    switch findings.signature {
    case .none: break
    case .damaged: return errSecCSSignatureFailed
    case .valid(let description, let team):
        found[kSecCodeInfoIdentifier] = NSString(string: description.identifier)
        found[kSecCodeInfoTeamIdentifier] = NSString(string: team.text)
        found[kSecCodeInfoTime] = NSDate(timeIntervalSince1970: TimeInterval(description.signed))
        found[kSecCodeInfoUnique] = NSData(data: Data(description.digest))
        // They are XML (Specs/code-signing.md), so reading them takes no longer than their length.
        if let bytes = description.entitlements,
            let list = try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any]
        {
            found[kSecCodeInfoEntitlementsDict] = NSDictionary(dictionary: list)
        }
    }
    information.pointee = found
    return errSecSuccess
}

/// The identifier of the program, a string: Apple's `kSecCodeInfoIdentifier`.
nonisolated(unsafe) public let kSecCodeInfoIdentifier: CFString = "identifier"

/// The team identifier, a string of 32 characters: Apple's `kSecCodeInfoTeamIdentifier`.
nonisolated(unsafe) public let kSecCodeInfoTeamIdentifier: CFString = "teamid"

/// The URL of the executable: Apple's `kSecCodeInfoMainExecutable`.
nonisolated(unsafe) public let kSecCodeInfoMainExecutable: CFString = "main-executable"

/// The entitlements, a dictionary: Apple's `kSecCodeInfoEntitlementsDict`.
nonisolated(unsafe) public let kSecCodeInfoEntitlementsDict: CFString = "entitlements-dict"

/// When the code was signed, by the signer's clock, a date: Apple's `kSecCodeInfoTime`.
nonisolated(unsafe) public let kSecCodeInfoTime: CFString = "signing-time"

/// SHA-256 of the code without its signature, 32 bytes: Apple's `kSecCodeInfoUnique`.
nonisolated(unsafe) public let kSecCodeInfoUnique: CFString = "unique"
