// The oldest access model of Apple's keychain: an item that names the applications that may read it (C-030).

internal import VaubanAccessPolicy
internal import VaubanKeychainClient

/// Apple's `SecTrustedApplication`: a program by its file, under the name that the system will give it when it asks.
public final class SecTrustedApplication: NSObject, Sendable {
    let identifier: String

    init(_ identifier: String) { self.identifier = identifier }

    public override func isEqual(_ object: Any?) -> Bool { (object as? SecTrustedApplication)?.identifier == identifier }
    public override var hash: Int { identifier.hashValue }
}

/// Apple's `SecAccess`: who may read an item besides the program that adds it, which always may.
public final class SecAccess: NSObject, Sendable {
    let applications: [String]

    init(_ applications: [String]) { self.applications = applications }

    public override func isEqual(_ object: Any?) -> Bool { (object as? SecAccess)?.applications == applications }
    public override var hash: Int { applications.hashValue }
}

/// Names a program by the path of its executable; nil means the calling program itself. A program of the user's own is
/// named by its content: its next build is another one.
/// - Returns: `errSecParam` where there is no file that can be read.
public func SecTrustedApplicationCreateFromPath(
    _ path: UnsafePointer<CChar>?, _ app: UnsafeMutablePointer<SecTrustedApplication?>
) -> OSStatus {
    guard let application = ApplicationIdentifier.ofProgram(at: path.map { String(cString: $0) } ?? "/proc/self/exe") else {
        return errSecParam
    }
    app.pointee = SecTrustedApplication(application.text)
    return errSecSuccess
}

/// A list of applications for `kSecAttrAccess`. Without a list, or with an empty one, nobody but the program that adds the
/// item is let in. The descriptor is not kept: a question names the item itself.
/// - Returns: `errSecParam` where the list holds anything but `SecTrustedApplication`s, or more than 64.
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
