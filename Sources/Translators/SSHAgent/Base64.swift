import Foundation
internal import Crypto

/// Public bytes as SSH's files have them.
enum Base64 {
    static func text(of bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// As `ssh-keygen -l` says it.
    static func fingerprint(of blob: [UInt8]) -> String {
        "SHA256:" + Data(SHA256.hash(data: blob)).base64EncodedString().prefix { $0 != "=" }
    }
}
