// The oldest access model of Apple's keychain: an item lists the applications that may read it (C-030).

internal import VaubanAccessPolicy
internal import VaubanKeychainClient

/// A program named by its file: Apple's `SecTrustedApplication`. It has the identifier that the system gives the program as a caller.
public final class SecTrustedApplication: NSObject, Sendable {
    let identifier: String

    init(_ identifier: String) { self.identifier = identifier }

    /// Returns whether the other object is the same program.
    public override func isEqual(_ object: Any?) -> Bool { (object as? SecTrustedApplication)?.identifier == identifier }
    /// A hash of the program's identifier.
    public override var hash: Int { identifier.hashValue }
}

/// The programs that may read an item in addition to the program that adds it: Apple's `SecAccess`.
public final class SecAccess: NSObject, Sendable {
    let applications: [String]

    init(_ applications: [String]) { self.applications = applications }

    /// Returns whether the other object lists the same programs.
    public override func isEqual(_ object: Any?) -> Bool { (object as? SecAccess)?.applications == applications }
    /// A hash of the list.
    public override var hash: Int { applications.hashValue }
}

/// Creates a trusted application from the path of an executable, or for the calling program if the path is nil: Apple's
/// `SecTrustedApplicationCreateFromPath`. A program in the user's own files is identified by its content, so its next build is another
/// program.
///
/// - Returns: `errSecSuccess`, or `errSecParam` if the file cannot be read.
@discardableResult
public func SecTrustedApplicationCreateFromPath(
    _ path: UnsafePointer<CChar>?, _ app: UnsafeMutablePointer<SecTrustedApplication?>
) -> OSStatus {
    guard let application = ApplicationIdentifier.ofProgram(at: path.map { String(cString: $0) } ?? "/proc/self/exe") else {
        return errSecParam
    }
    app.pointee = SecTrustedApplication(application.text)
    return errSecSuccess
}

/// Creates a list of applications for `kSecAttrAccess`: Apple's `SecAccessCreate`. With a nil or empty list, only the program that adds the
/// item may read it. The descriptor is ignored: prompts name the item itself.
///
/// - Returns: `errSecSuccess`, or `errSecParam` if the list has more than 64 elements or other objects than `SecTrustedApplication`.
@discardableResult
public func SecAccessCreate(
    _ descriptor: CFString, _ trustedlist: CFArray?, _ accessRef: UnsafeMutablePointer<SecAccess?>
) -> OSStatus {
    var identifiers: [String] = []
    for element in trustedlist.map({ Array($0) }) ?? [] {
        guard let application = element as? SecTrustedApplication, identifiers.count < 64 else { return errSecParam }
        identifiers.append(application.identifier)
    }
    accessRef.pointee = SecAccess(identifiers)
    return errSecSuccess
}
