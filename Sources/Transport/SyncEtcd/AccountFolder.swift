import Glibc
import VaubanEtcd
import VaubanLinuxHost

/// The folder that etcd's operator gave a user: `account`, and for encrypted endpoints `ca.pem`, `certificate.pem`, `key.pem` and
/// `password`. All of it is read before this program is confined.
struct AccountFolder {
    let account: EtcdAccount
    /// The secrets; nil for an account without encrypted endpoints.
    let secrets: Secrets?

    struct Secrets {
        let authority: [UInt8]
        let certificate: [UInt8]
        let key: [UInt8]
        let password: [UInt8]
    }

    private static let fileBytesMax = 64 << 10
    private static let passwordBytes = 1...200

    /// - Throws: `EtcdError` with the file that is invalid.
    init(_ path: String) throws(EtcdError) {
        let folder = try OpenFolder(path)
        guard let text = String(validating: try folder.file("account"), as: UTF8.self), text.utf8.count <= EtcdAccount.bytesMax else {
            throw .account("\(path)/account is not UTF-8 text")
        }
        account = try EtcdAccount(text)
        let written = try folder.secret("password", isOptional: true)
        guard account.isSecure else {
            guard written == nil else {
                throw .account("\(path)/password would be sent without encryption; write https:// in the file account, or remove password")
            }
            secrets = nil
            return
        }
        // An etcd without authentication answers requests without a password, from anyone.
        guard let password = written else {
            throw .account("\(path)/password is missing; write the password from the operator of etcd to it")
        }
        guard let key = try folder.secret("key.pem") else { throw .account("\(path)/key.pem is missing") }
        secrets = Secrets(
            authority: try folder.file("ca.pem"), certificate: try folder.file("certificate.pem"), key: key,
            password: try Self.line(of: password, path))
    }

    private static func line(of bytes: [UInt8], _ path: String) throws(EtcdError) -> [UInt8] {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let password = lines.first, lines.dropFirst().allSatisfy(\.isEmpty), passwordBytes.contains(password.count),
            password.allSatisfy({ (0x20..<0x7F).contains($0) })
        else { throw .account("\(path)/password is not one line of at most \(passwordBytes.upperBound) ASCII characters") }
        return Array(password)
    }

    /// A folder and its files that only root and this user can change.
    private struct OpenFolder {
        private let path: String
        private let folder: Descriptor

        init(_ path: String) throws(EtcdError) {
            let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard number >= 0 else { throw Self.unopened(path) }
            self.path = path
            folder = Descriptor(number)
            _ = try Self.facts(number, path)
        }

        func file(_ name: String) throws(EtcdError) -> [UInt8] {
            guard let bytes = try file(name, isSecret: false, isOptional: false) else { throw .account("\(path)/\(name) is missing") }
            return bytes
        }

        /// Returns the bytes of a file that no other user may read; nil if it is optional and missing.
        func secret(_ name: String, isOptional: Bool = false) throws(EtcdError) -> [UInt8]? {
            try file(name, isSecret: true, isOptional: isOptional)
        }

        private func file(_ name: String, isSecret: Bool, isOptional: Bool) throws(EtcdError) -> [UInt8]? {
            let path = "\(path)/\(name)"
            let number = openat(folder.number, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            if number < 0, errno == ENOENT, isOptional { return nil }
            guard number >= 0 else { throw Self.unopened(path) }
            let file = Descriptor(number)
            let facts = try Self.facts(number, path)
            guard facts.st_mode & S_IFMT == S_IFREG else { throw .account("\(path) is not a file") }
            if isSecret, facts.st_mode & 0o077 != 0 { throw .account("Others can read \(path); run: chmod 600 '\(path)'") }
            guard let bytes = SmallFile.bytes(of: file, max: AccountFolder.fileBytesMax), !bytes.isEmpty else {
                throw .account("\(path) is empty or too large")
            }
            return bytes
        }

        private static func facts(_ number: Int32, _ path: String) throws(EtcdError) -> stat {
            var facts = stat()
            guard fstat(number, &facts) == 0 else { throw unopened(path) }
            guard facts.st_uid == 0 || facts.st_uid == geteuid() else {
                throw .account("\(path) belongs to another user, who can change it; make a copy of your own")
            }
            guard facts.st_mode & 0o022 == 0 else { throw .account("Others can change \(path); run: chmod go-w '\(path)'") }
            return facts
        }

        private static func unopened(_ path: String) -> EtcdError {
            .account("\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
    }
}
