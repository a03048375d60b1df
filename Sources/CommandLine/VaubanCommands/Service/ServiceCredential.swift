import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// What systemd hands a service beside its environment: a file in a folder of this service's own, in memory
/// (systemd.exec(5), "Credentials"). The environment names the folder and not what is in it.
enum ServiceCredential {
    /// The one line of a credential, without its newline. What is not plainly one line is refused before it costs a try.
    static func line(_ name: String, max: Int) throws -> SecretBytes {
        let file = try open(name)
        let secret = try SecretReader.everything(from: file.number, max: max + 1, keepsNewline: false)
        guard !secret.isEmpty, secret.count <= max, secret.withUnsafeBytes({ !$0.contains(0x0A) && !$0.contains(0) }) else {
            throw Refusal(.badParameter, "the credential \(SafeText.visible(name)) is not one line of 1 to \(max) bytes; nothing was tried")
        }
        return secret
    }

    private static func open(_ name: String) throws(Refusal) -> Descriptor {
        guard let variable = getenv("CREDENTIALS_DIRECTORY"), case let folder = String(cString: variable), folder.hasPrefix("/") else {
            throw Refusal(.badParameter, "no credential was handed to this program; a systemd unit does it with LoadCredential=")
        }
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
            throw Refusal(.badParameter, "\(SafeText.visible(name)) is no name of a credential")
        }
        // Not blocking: a pipe in its place would else hold the service for ever.
        let number = Glibc.open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else {
            throw Refusal(.badParameter, "\(SystemError("read the credential \(SafeText.visible(name))", code: errno))")
        }
        let file = Descriptor(number)
        var information = stat()
        // systemd gives the file to the service's user, or keeps it root's and lets the user in by an access list, whose mask
        // the mode then shows as the group's right.
        guard fstat(number, &information) == 0, information.st_mode & S_IFMT == S_IFREG, information.st_mode & 0o037 == 0,
            information.st_uid == geteuid() || information.st_uid == 0
        else {
            throw Refusal(
                .badParameter, "the credential \(SafeText.visible(name)) is not a file of this service's own that others cannot read")
        }
        return file
    }
}
