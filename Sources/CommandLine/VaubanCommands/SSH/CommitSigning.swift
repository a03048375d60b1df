import Foundation
import Glibc
import VaubanLinuxHost
import VaubanPlainText
import VaubanRefusal

/// Configures git to sign commits with an SSH key, and reverts that. The previous values are stored in git's configuration in the section
/// `vauban`, with a subsection for each name.
struct CommitSigning {
    private let git: GitConfiguration
    private static let format = "gpg.format"
    private static let signers = "gpg.ssh.allowedSignersFile"
    private static let names = [format, "user.signingKey", "commit.gpgSign", signers]
    /// The largest file of signers that is extended.
    private static let signersBytesMax = 16 << 20

    init(_ git: GitConfiguration) { self.git = git }

    func enable(_ key: SSHKeyOfUser) throws {
        guard let address = try GitConfiguration.effective(["user.email"]), !address.isEmpty else {
            throw Refusal(.badParameter, "git needs your address to name the signer; to set it: git config user.email you@example.org")
        }
        let publicKey = key.line.split(separator: " ").prefix(2).joined(separator: " ")
        try set(Self.format, "ssh")
        try set("user.signingKey", "key::\(publicKey)")
        try set("commit.gpgSign", "true")
        let file: String
        if let found = try GitConfiguration.effective(["--path", Self.signers]), !found.isEmpty {
            file = found
        } else {
            file = try Self.ownSignersFile()
            try set(Self.signers, file)
        }
        try addSigner("\(address) namespaces=\"git\" \(publicKey)", to: file)
        if try !Self.agentOffers(publicKey) {
            say("The agent in SSH_AUTH_SOCK does not offer this key, so git cannot sign yet. Run: vauban ssh enable, or vauban unlock.")
        }
    }

    /// Restores the previous value of each setting that was not changed since.
    func disable() throws {
        var isEnabled = false
        for name in Self.names {
            guard let ours = try git.value("vauban.\(name).set") else { continue }
            isEnabled = true
            let before = try git.value("vauban.\(name).before")
            if try git.value(name) != ours {
                say("\(name) was changed since and stays as it is.")
            } else if let before {
                try git.set(name, before)
                say("\(name) is \(SafeText.visible(before)) again.")
            } else {
                try git.unset(name)
                say("\(name) is no longer set.")
            }
            try git.removeSection("vauban.\(name)")
        }
        guard isEnabled else { return say("vauban did not set up signing here; nothing was changed.") }
        say("The file of allowed signers stays, so that git can still verify signatures.")
    }

    private func set(_ name: String, _ value: String) throws {
        let before = try git.value(name)
        guard before != value else { return say("\(name) is \(SafeText.visible(value)) already.") }
        // Only the first call stores the previous value.
        if try git.value("vauban.\(name).set") == nil, let before { try git.set("vauban.\(name).before", before) }
        try git.set("vauban.\(name).set", value)
        try git.set(name, value)
        say("\(name) is \(SafeText.visible(value))\(before.map { " (it was \(SafeText.visible($0)))" } ?? "").")
    }

    private static func ownSignersFile() throws(Refusal) -> String {
        let home = getenv("HOME").map { String(cString: $0) } ?? ""
        let folder = getenv("XDG_CONFIG_HOME").map { String(cString: $0) } ?? "\(home)/.config"
        guard folder.hasPrefix("/") else { throw Refusal(.unavailable, "No home folder: HOME and XDG_CONFIG_HOME are unset") }
        return "\(folder)/git/allowed_signers"
    }

    /// Adds a line to the file by which git verifies signatures (ssh-keygen(1), "ALLOWED SIGNERS").
    private func addSigner(_ line: String, to file: String) throws {
        let text = SmallFile.text(path: file, max: Self.signersBytesMax)
        if text == nil, access(file, F_OK) == 0 { throw Refusal(.badParameter, "\(SafeText.visible(file)) cannot be read as text") }
        if text?.split(separator: "\n").contains(Substring(line)) == true { return }
        try FileManager.default.createDirectory(atPath: PathBytes.split(file).folder, withIntermediateDirectories: true)
        let kept = text.map { $0.isEmpty || $0.hasSuffix("\n") ? $0 : "\($0)\n" } ?? ""
        try "\(kept)\(line)\n".write(toFile: file, atomically: true, encoding: .utf8)
        say("\(SafeText.visible(file)) lists this key as yours for signing.")
    }

    private static func agentOffers(_ publicKey: String) throws -> Bool {
        guard getenv("SSH_AUTH_SOCK") != nil, let list = try? GitConfiguration.output(of: "ssh-add", ["-L"]) else { return false }
        return list.split(separator: "\n").contains { $0.hasPrefix(publicKey) }
    }
}
