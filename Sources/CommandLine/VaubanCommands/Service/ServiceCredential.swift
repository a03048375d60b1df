import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// A credential that systemd passes to a service outside the environment: a file in the service's own folder in memory (systemd.exec(5),
/// "Credentials"). The environment contains only the folder's path.
enum ServiceCredential {
    /// Returns the one line of a credential without its newline. Throws for anything else, before it costs an attempt.
    static func line(_ name: String, max: Int) throws -> SecretBytes {
        let file = try open(name)
        let secret = try SecretReader.everything(from: file.number, max: max + 1, keepsNewline: false)
        guard !secret.isEmpty, secret.count <= max, secret.withUnsafeBytes({ !$0.contains(0x0A) && !$0.contains(0) }) else {
            throw Refusal(
                .badParameter, "The credential \(SafeText.visible(name)) must be one line of 1 to \(max) bytes; no attempt was made")
        }
        return secret
    }

    private static func open(_ name: String) throws(Refusal) -> Descriptor {
        guard let variable = getenv("CREDENTIALS_DIRECTORY"), case let folder = String(cString: variable), folder.hasPrefix("/") else {
            throw Refusal(.badParameter, "No credential was passed to this program; use LoadCredential= in a systemd unit")
        }
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
            throw Refusal(.badParameter, "\(SafeText.visible(name)) is not a valid credential name")
        }
        // Non-blocking, since a FIFO in its place would otherwise block the service forever.
        let number = Glibc.open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else {
            throw Refusal(.badParameter, SystemError("read the credential \(SafeText.visible(name))", code: errno).sentence)
        }
        let file = Descriptor(number)
        var information = stat()
        // systemd gives the file to the service's user, or leaves it to root and grants access by an ACL, whose mask appears as the group's
        // permission in the mode.
        guard fstat(number, &information) == 0, information.st_mode & S_IFMT == S_IFREG, information.st_mode & 0o037 == 0,
            information.st_uid == geteuid() || information.st_uid == 0
        else {
            throw Refusal(
                .badParameter, "The credential \(SafeText.visible(name)) must be a file that only this service can read")
        }
        return file
    }
}
