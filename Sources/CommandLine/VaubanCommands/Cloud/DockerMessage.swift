import Glibc
import VaubanJSON
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// The input that docker and podman write to a credential helper: JSON for `store`, otherwise only the registry
/// (github.com/docker/docker-credential-helpers).
enum DockerMessage {
    static let bytesMax = 1 << 17
    private static let registryBytesMax = 2048
    private static let accountBytesMax = 1024

    /// Reads the registry and trims the spaces and newlines around it.
    static func registry(from descriptor: Int32) throws -> String {
        let input = try SecretReader.everything(from: descriptor, max: bytesMax, keepsNewline: true)
        guard let text = input.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw Refusal(.badParameter, "The registry is not text")
        }
        return try checked(registry: text.trimmingSpaces)
    }

    /// Reads a login. The secret goes directly into zeroing memory.
    static func login(from descriptor: Int32) throws -> DockerLogin {
        let input = try SecretReader.everything(from: descriptor, max: bytesMax, keepsNewline: true)
        var login: DockerLogin?
        try input.withUnsafeBytes { bytes in
            guard let object = JSONObject(document: bytes) else {
                throw Refusal(.badParameter, "The login is not one JSON object")
            }
            let registry = try checked(registry: object.text("ServerURL") ?? "")
            let account = object.text("Username") ?? ""
            guard !account.isEmpty else { throw Refusal(.badParameter, DockerError.noAccount) }
            guard account.utf8.count <= accountBytesMax, isOneLine(account) else {
                throw Refusal(.badParameter, "The user name must be one line of at most \(accountBytesMax) bytes")
            }
            guard case .text(let range)? = object["Secret"], let secret = JSONText.secret(bytes, range) else {
                throw Refusal(.badParameter, "The login has no Secret")
            }
            login = DockerLogin(registry: registry, account: account, secret: SecretBox(secret))
        }
        guard let login else { throw Refusal(.internalError) }
        return login
    }

    private static func checked(registry: String) throws(Refusal) -> String {
        guard !registry.isEmpty else { throw Refusal(.badParameter, DockerError.noRegistry) }
        guard registry.utf8.count <= registryBytesMax, isOneLine(registry) else {
            throw Refusal(.badParameter, "The registry must be one line of at most \(registryBytesMax) bytes")
        }
        return registry
    }

    private static func isOneLine(_ text: String) -> Bool { !text.utf8.contains { $0 < 0x20 || $0 == 0x7F } }
}

/// A registry with a user name and a secret.
struct DockerLogin {
    let registry: String
    let account: String
    let secret: SecretBox
}

/// The error messages that docker and podman recognize. They compare them byte for byte.
enum DockerError {
    static let notFound = "credentials not found in native keychain"
    static let noRegistry = "no credentials server URL"
    static let noAccount = "no credentials username"
}

extension String {
    /// The text without the spaces, tabs and newlines at both ends.
    fileprivate var trimmingSpaces: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
        return String(String(drop(while: isSpace).reversed().drop(while: isSpace)).reversed())
    }
}
