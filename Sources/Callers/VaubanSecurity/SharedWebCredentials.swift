internal import VaubanPasswordRules
internal import VaubanSecretBytes

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
