internal import VaubanPlainText

/// The identifier that the system gives an application, in place of the application identifier in Apple's code signatures
/// (Specs/caller-identity.md). It is the access group of items that the application stores without naming a group.
package struct ApplicationIdentifier: Hashable, Sendable {
    package let text: String

    /// Returns the identifier of a program installed by the administrator or the package manager. It survives upgrades.
    package static func installed(path: String) -> ApplicationIdentifier { ApplicationIdentifier(text: "program:\(path)") }
    /// Returns the identifier of a Flatpak application, such as `org.mozilla.firefox`.
    package static func flatpak(_ name: String) -> ApplicationIdentifier { ApplicationIdentifier(text: "flatpak:\(name)") }
    /// Returns the identifier of a snap.
    package static func snap(_ name: String) -> ApplicationIdentifier { ApplicationIdentifier(text: "snap:\(name)") }
    /// Returns the identifier of a program that the user built, in exactly this build. `digest` is the SHA-256 of its file, 32 bytes.
    package static func build(digest: [UInt8]) -> ApplicationIdentifier {
        ApplicationIdentifier(text: "build:" + digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined())
    }

    /// Returns the identifier of every program that a trusted team signs under one identifier (Specs/code-signing.md).
    package static func signed(by team: TeamIdentifier, as identifier: String) -> ApplicationIdentifier {
        ApplicationIdentifier(text: "\(signed)\(team.prefix)\(identifier)")
    }
    private static let signed = "signed:"

    package init(text: String) { self.text = text }

    /// The name for display: the path of an installed program, the name of a packaged one.
    package var shown: String { text.dropping(bytePrefix: "program:") ?? text }

    /// Compares bytes: another spelling names another file.
    package static func == (first: Self, second: Self) -> Bool { first.text.isSameBytes(as: second.text) }
    package func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }

    /// The longest path in an identifier, in bytes; the witness reports none that is longer.
    private static let pathBytesMax = 1024

    /// Whether the text is an identifier that the system could give an application.
    package var isWellFormed: Bool {
        if let path = text.dropping(bytePrefix: "program:") { return PathBytes.isPlain(path, bytesMax: Self.pathBytesMax) }
        if let name = text.dropping(bytePrefix: "flatpak:") ?? text.dropping(bytePrefix: "snap:") { return Self.isPackageName(name) }
        if let name = text.dropping(bytePrefix: Self.signed) { return Self.isTeamsName(name) }
        guard let digits = text.dropping(bytePrefix: "build:") else { return false }
        return digits.utf8.count == 64 && digits.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Returns whether the text can name a Flatpak or a snap: letters, digits, `-`, `.` and `_`, not beginning with a dot.
    package static func isPackageName(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte)
                || [0x2D, 0x2E, 0x5F].contains(byte)
        }
        return isPlain && !name.isEmpty && name.utf8.first != 0x2E && name.utf8.count <= 255
    }

    /// Returns whether the text is a team identifier, a dot and the identifier of a program.
    private static func isTeamsName(_ name: String) -> Bool {
        let (team, rest) = (name.utf8.prefix(TeamIdentifier.length), name.utf8.dropFirst(TeamIdentifier.length))
        guard rest.first == 0x2E, TeamIdentifier(text: String(decoding: team, as: UTF8.self)) != nil else { return false }
        return isProgramIdentifier(String(decoding: rest.dropFirst(), as: UTF8.self))
    }

    /// Returns whether the text can be the identifier of a signed program: the form of a package's name, of at most 128 bytes.
    package static func isProgramIdentifier(_ text: String) -> Bool { isPackageName(text) && text.utf8.count <= programIdentifierBytesMax }
    package static let programIdentifierBytesMax = 128

    /// Returns the subject of a permission for an interpreter, whatever it runs.
    package static func anythingRun(by path: String) -> String { anythingRunBy + path }
    private static let anythingRunBy = "anything run by "

    /// Returns whether a permission can name this subject: an application, or whatever an interpreter runs.
    package static func canBePermitted(_ subject: String) -> Bool {
        if let path = subject.dropping(bytePrefix: anythingRunBy) { return PathBytes.isPlain(path, bytesMax: pathBytesMax) }
        return ApplicationIdentifier(text: subject).isWellFormed
    }
}

/// Access groups that belong to no application.
package enum AccessGroup {
    /// Items that the user stores with `vauban`, from any shell or script.
    package static let commandLine = "cli"
    /// Items of programs without an identity, and items from before callers had identities.
    package static let unsigned = "unsigned"
    /// The keychain's own records of permissions.
    package static let permissions = "vauban.permissions"
    /// Apple's group for smart cards: readable, never writable.
    package static let token = "com.apple.token"
}
