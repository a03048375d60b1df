import Foundation
import VaubanKeychainModel

/// What a URL says of a password of a server: scheme, server, port, path and account, as far as it says them.
struct WebAddress {
    let scheme: String
    let server: String
    let port: Int64?
    /// Nil where the URL ends with its server; with its percent signs, as it was written.
    let path: String?
    let account: String?

    struct Fault: Error {
        let why: String
    }

    /// A secret in a URL would be an argument, which other programs can read; so it is refused.
    init(_ text: String) throws(Fault) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme, let host = parts.host, !host.isEmpty else {
            throw Fault(why: "a URL has a scheme and a server, as https://example.com/")
        }
        guard parts.password == nil else { throw Fault(why: "a URL with a password in it is not taken: other programs can read arguments") }
        guard ProtocolCode.known(scheme) != nil else {
            throw Fault(why: "the keychain has no name for this URL's protocol; say --server and --protocol")
        }
        if let port = parts.port, !(1...65535).contains(port) { throw Fault(why: "a port is a number up to 65535") }
        self.scheme = scheme.lowercased()
        server = HostName.kept(host)
        port = parts.port.map(Int64.init)
        path = ["", "/"].contains(parts.percentEncodedPath) ? nil : parts.percentEncodedPath
        account = parts.user.flatMap { $0.isEmpty ? nil : $0 }
    }
}
