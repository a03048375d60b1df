internal import Dispatch
internal import VaubanAuthenticationClient
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPasswordRules
internal import VaubanRefusal
internal import VaubanSecretBytes

/// Saves, changes or deletes a password for a website that this program's browser and applications share: Apple's
/// `SecAddSharedWebCredential`.
///
/// The website must be among the associated domains in this program's entitlement, and must list this program in its association file. The
/// user is prompted before anything changes; a password that is saved already changes nothing.
///
/// - Parameters:
///   - fqdn: The website's name, and its port if it is not 443: `example.com`, `example.com:8443`.
///   - account: The name of the account.
///   - password: The password, a `CFString`; nil deletes the account's password.
///   - completionHandler: Called once on another thread, with nil or an error of `NSOSStatusErrorDomain`: `errSecParam`,
///     `errSecMissingEntitlement`, `errSecAuthFailed` if the website does not list this program or cannot be reached, `errSecUserCanceled`,
///     or another of Apple's statuses.
public func SecAddSharedWebCredential(
    _ fqdn: CFString, _ account: CFString, _ password: CFString?, _ completionHandler: @escaping @Sendable (CFError?) -> Void
) {
    let site = fqdn as String, account = account as String, password = (password as String?).map { SharedSecret($0) }
    SharedPasswordCalls.queue.async {
        let (_, error) = SharedPasswordCalls.run {
            guard !site.isEmpty, !account.isEmpty else { throw Refusal(.badParameter, "Name a website and an account") }
            let request = SharedPasswordRequest(password == nil ? .delete : .save, site: site, account: account)
            _ = try SharedPasswordCalls.send(request, SharedSecret.copy(of: password))
            return NSArray()
        }
        completionHandler(error)
    }
}

/// Has the user pick a password of a website that this program's browser and applications share: Apple's
/// `SecRequestSharedWebCredential`.
///
/// - Parameters:
///   - fqdn: The website's name, and its port if it is not 443; nil for the first that the program's entitlement names.
///   - account: The name of the account; nil for any.
///   - completionHandler: Called once on another thread, with an array of at most one dictionary of `kSecAttrServer`, `kSecAttrAccount`,
///     `kSecSharedPassword` and, if it is not 443, `kSecAttrPort`; or with an empty array and an error, `errSecItemNotFound` if nothing is
///     saved.
public func SecRequestSharedWebCredential(
    _ fqdn: CFString?, _ account: CFString?, _ completionHandler: @escaping @Sendable (CFArray?, CFError?) -> Void
) {
    let site = fqdn as String?
    let request = SharedPasswordRequest(.pick, site: site ?? "", account: account as String? ?? "")
    SharedPasswordCalls.queue.async {
        let (found, error) = SharedPasswordCalls.run {
            guard site != "" else { throw Refusal(.badParameter, "Name a website") }
            guard let entry = try SharedPasswordCalls.send(request, nil), let record = entry.record else { throw Refusal(.itemNotFound) }
            return NSArray(array: [SharedPasswordCalls.dictionary(record, entry.takeSecret())])
        }
        completionHandler(found, error)
    }
}

/// The calls about shared passwords, which run on separate threads: the user may take minutes.
private enum SharedPasswordCalls {
    static let queue = DispatchQueue(label: "app.vauban.shared-passwords", attributes: .concurrent)

    static func send(_ request: SharedPasswordRequest, _ password: consuming SecretBytes?) throws(Refusal) -> ReceivedItem? {
        guard request.site.utf8.count <= SharedPasswordRequest.siteBytesMax,
            request.account.utf8.count <= SharedPasswordRequest.accountBytesMax
        else { throw Refusal(.badParameter, "The name of the website or of the account is too long") }
        let secret = password
        return try OwnTerminal.withPrompts(for: try Service.current()) { (waiting) throws(Refusal) in
            try KeychainConnections.client().sharedPassword(request, password: secret, waiting: waiting)
        }
    }

    static func run(_ body: () throws -> CFArray) -> (CFArray, CFError?) {
        var error: Unmanaged<CFError>?
        let found = withReportedError(&error, body)
        return (found ?? NSArray(), error?.takeRetainedValue())
    }

    static func dictionary(_ record: ItemRecord, _ password: borrowing SecretBytes?) -> NSDictionary {
        var found: [String: Any] = [kSecSharedPassword as String: text(password)]
        let names: [(AttributeName, String)] = [(.server, kSecAttrServer as String), (.account, kSecAttrAccount as String)]
        for (name, key) in names { if case .text(let text)? = record.attributes[name] { found[key] = text } }
        if case .number(let port)? = record.attributes[.port], port != 0, port != 443 {
            found[kSecAttrPort as String] = NSNumber(value: port)
        }
        return NSDictionary(dictionary: found)
    }

    private static func text(_ password: borrowing SecretBytes?) -> String {
        switch password {
        case .none: return ""
        case .some(let password): return password.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
    }
}

/// A password on its way to the keychain.
private final class SharedSecret: Sendable {
    let bytes: SecretBytes

    init(_ text: String) { bytes = SecretBytes(copying: Array(text.utf8)) }

    static func copy(of secret: SharedSecret?) -> SecretBytes? {
        guard let secret else { return nil }
        return secret.bytes.duplicate()
    }
}

/// Returns a password to suggest for a new account of a website: Apple's `SecCreateSharedWebCredentialPassword`.
///
/// It has twelve characters in groups of three, separated by hyphens, with at least one lowercase letter, one uppercase letter and one
/// digit. Letters and digits that look alike are left out. Each such password is equally likely, which makes 68 bits of entropy.
public func SecCreateSharedWebCredentialPassword() -> CFString? {
    guard let form = suggestedForm else { return nil }
    var random = SystemRandomNumberGenerator()
    let password = form.password { bound in Int.random(in: 0..<bound, using: &random) }
    let groups = password.withUnsafeBytes { bytes in
        stride(from: 0, to: bytes.count, by: 3).map { String(decoding: bytes[$0..<$0 + 3], as: UTF8.self) }
    }
    return NSString(string: groups.joined(separator: "-"))
}

private let suggestedForm = try? PasswordForm(
    count: 12,
    of: [
        .lower.subtracting(PasswordCharacters("ijlz".utf8)), .upper.subtracting(PasswordCharacters("IO".utf8)),
        .digit.subtracting(PasswordCharacters("012".utf8)),
    ])
