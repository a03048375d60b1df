import FoundationEssentials
internal import Crypto

/// Base64 as in SSH's files.
enum Base64 {
    static func text(of bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Returns a fingerprint in the format of `ssh-keygen -l`.
    static func fingerprint(of blob: [UInt8]) -> String {
        "SHA256:" + Data(SHA256.hash(data: blob)).base64EncodedString().prefix { $0 != "=" }
    }
}
