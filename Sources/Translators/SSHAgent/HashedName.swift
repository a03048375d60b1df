import FoundationEssentials
internal import Crypto

/// A hashed name in a file of known hosts: `|1|SALT|HASH`, the HMAC-SHA1 of the name with the salt as its key (sshd(8)).
struct HashedName {
    let text: Substring
    private let salt: SymmetricKey
    private let hash: Data

    /// Parses a hashed name; nil for any other name.
    init?(_ text: Substring) {
        let fields = text.split(separator: "|", omittingEmptySubsequences: false)
        guard fields.count == 4, fields[0].isEmpty, fields[1] == "1", let salt = Data(base64Encoded: String(fields[2])),
            let hash = Data(base64Encoded: String(fields[3])), salt.count == Insecure.SHA1.byteCount, hash.count == salt.count
        else { return nil }
        self.text = text
        self.salt = SymmetricKey(data: salt)
        self.hash = hash
    }

    func isHash(of name: String) -> Bool {
        HMAC<Insecure.SHA1>.isValidAuthenticationCode(hash, authenticating: Data(name.utf8), using: salt)
    }
}
