internal import VaubanPlainText

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
    /// A program of the user's own: just this build of it. `digest` is the SHA-256 of its file, 32 bytes.
    package static func build(digest: [UInt8]) -> ApplicationIdentifier {
        ApplicationIdentifier(text: "build:" + digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined())
    }

    package init(text: String) { self.text = text }

    /// How a user knows it: the path of an installed program, the name of a packaged one.
    package var shown: String { text.dropping(bytePrefix: "program:") ?? text }

    /// By their bytes: what differs in them is another file's name.
    package static func == (first: Self, second: Self) -> Bool { first.text.isSameBytes(as: second.text) }
    package func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }

    /// Bytes of the path in a name; the witness names no longer one.
    private static let pathBytesMax = 1024

    /// Whether the text is a name that the system could give an application.
    package var isWellFormed: Bool {
        if let path = text.dropping(bytePrefix: "program:") { return PathBytes.isPlain(path, bytesMax: Self.pathBytesMax) }
        if let name = text.dropping(bytePrefix: "flatpak:") ?? text.dropping(bytePrefix: "snap:") { return Self.isPackageName(name) }
        guard let digits = text.dropping(bytePrefix: "build:") else { return false }
        return digits.utf8.count == 64 && digits.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Of a Flatpak or a snap: letters, digits, `-`, `.` and `_`, and no dot at its beginning.
    package static func isPackageName(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte)
                || [0x2D, 0x2E, 0x5F].contains(byte)
        }
        return isPlain && !name.isEmpty && name.utf8.first != 0x2E && name.utf8.count <= 255
    }

    /// The name under which a user lets an interpreter read, whatever it runs.
    package static func anythingRun(by path: String) -> String { anythingRunBy + path }
    private static let anythingRunBy = "anything run by "

    /// Whether the user can let a program of this name read something: an application, or whatever an interpreter runs.
    package static func canBePermitted(_ subject: String) -> Bool {
        if let path = subject.dropping(bytePrefix: anythingRunBy) { return PathBytes.isPlain(path, bytesMax: pathBytesMax) }
        return ApplicationIdentifier(text: subject).isWellFormed
    }
}

/// Access groups that belong to nobody's program.
package enum AccessGroup {
    /// What the user keeps with `vauban`, whichever shell or script started it.
    package static let commandLine = "cli"
    /// What programs without an identity keep, and what was kept before callers had identities.
    package static let unsigned = "unsigned"
    /// The keychain's own records of what the user has let happen.
    package static let permissions = "vauban.permissions"
    /// Apple's group of smart cards: it can be read and never written.
    package static let token = "com.apple.token"
}
