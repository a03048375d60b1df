import Glibc
import VaubanEtcd
import VaubanLinuxHost

/// The folder that etcd's operator gave a user: `account`, `ca.pem`, `certificate.pem`, `key.pem`, and `password` if etcd asks who its
/// users are. All of it is read before this program is confined.
struct AccountFolder {
    let account: EtcdAccount
    let password: [UInt8]?
    /// Of an account with an encrypted endpoint.
    let identity: Identity?

    struct Identity {
        let authority: [UInt8]
        let certificate: [UInt8]
        let key: [UInt8]
    }

    private static let fileBytesMax = 64 << 10
    private static let passwordBytes = 1...200

    init(_ path: String) throws(EtcdFault) {
        guard let text = String(validating: try Self.file(path, "account", isSecret: false), as: UTF8.self),
            text.utf8.count <= EtcdAccount.bytesMax
        else { throw .account("\(path)/account is no text") }
        account = try EtcdAccount(text)
        if account.isSecure {
            identity = Identity(
                authority: try Self.file(path, "ca.pem", isSecret: false),
                certificate: try Self.file(path, "certificate.pem", isSecret: false),
                key: try Self.file(path, "key.pem", isSecret: true))
        } else {
            identity = nil
        }
        guard access("\(path)/password", F_OK) == 0 else {
            password = nil
            return
        }
        let line = try Self.file(path, "password", isSecret: true).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let password = line.first, line.dropFirst().allSatisfy(\.isEmpty), Self.passwordBytes.contains(password.count),
            password.allSatisfy({ (0x20..<0x7F).contains($0) })
        else { throw .account("\(path)/password is not one line of at most \(Self.passwordBytes.upperBound) ASCII characters") }
        self.password = Array(password)
    }

    private static func file(_ folder: String, _ name: String, isSecret: Bool) throws(EtcdFault) -> [UInt8] {
        let path = "\(folder)/\(name)"
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { throw .account("\(path) cannot be opened: \(String(cString: strerror(errno)))") }
        let file = Descriptor(number)
        var facts = stat()
        guard fstat(number, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { throw .account("\(path) is not a file") }
        if isSecret, facts.st_mode & 0o077 != 0 {
            throw .account("others can read or change \(path); run: chmod 600 '\(path)'")
        }
        guard let bytes = SmallFile.bytes(of: file, max: fileBytesMax), !bytes.isEmpty else {
            throw .account("\(path) is empty or too large")
        }
        return bytes
    }
}
