/// The name that the system gives an application, in the place of the application identifier of Apple's signatures
/// (Specs/caller-identity.md). It is the access group of whatever the application keeps without naming a group.
package struct ApplicationIdentifier: Hashable, Sendable {
    package let text: String

    /// A program that the machine's administrator or package manager installed: the same through every upgrade.
    package static func installed(path: String) -> ApplicationIdentifier { ApplicationIdentifier(text: "program:\(path)") }
    /// A Flatpak application by its name, such as `org.mozilla.firefox`.
    package static func flatpak(_ name: String) -> ApplicationIdentifier { ApplicationIdentifier(text: "flatpak:\(name)") }
    /// A snap by its name.
    package static func snap(_ name: String) -> ApplicationIdentifier { ApplicationIdentifier(text: "snap:\(name)") }
    /// A program of the person's own: just this build of it. `digest` is the SHA-256 of its file, 32 bytes.
    package static func build(digest: [UInt8]) -> ApplicationIdentifier {
        ApplicationIdentifier(text: "build:" + digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined())
    }

    package init(text: String) { self.text = text }

    /// How a person knows it: the path of an installed program, the name of a packaged one.
    package var shown: String {
        guard let colon = text.firstIndex(of: ":"), text.hasPrefix("program:") else { return text }
        return String(text[text.index(after: colon)...])
    }
}

/// Access groups that belong to nobody's program.
package enum AccessGroup {
    /// What the person keeps with `vauban`, whichever shell or script started it.
    package static let commandLine = "cli"
    /// What programs without an identity keep, and what was kept before callers had identities.
    package static let unsigned = "unsigned"
    /// The keychain's own records of what the person has let happen.
    package static let permissions = "vauban.permissions"
    /// Apple's group of smart cards: it can be read and never written.
    package static let token = "com.apple.token"
}
