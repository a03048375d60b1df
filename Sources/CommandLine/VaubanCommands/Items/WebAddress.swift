import Foundation
import VaubanKeychainModel

/// The attributes of a server's password in a URL: scheme, server, port, path and account, as far as present.
package struct WebAddress {
    package let scheme: String
    package let server: String
    package let port: Int64?
    /// The path with its percent escapes as written; nil if the URL ends with its server.
    package let path: String?
    package let account: String?

    /// Parses a URL. Refuses one that contains a password, since other programs can read arguments.
    package init(_ text: String) throws(ParsingError) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme, let host = HostName.inASCII(parts) else {
            throw ParsingError("a URL needs a scheme and a server, such as https://example.com/")
        }
        guard parts.password == nil else { throw ParsingError("a URL must not contain a password: other programs can read arguments") }
        guard ProtocolCode.known(scheme) != nil else {
            throw ParsingError("the protocol of this URL is unknown; use --server and --protocol")
        }
        if let port = parts.port, !(1...65535).contains(port) { throw ParsingError("a port must be a number up to 65535") }
        self.scheme = scheme.lowercased()
        server = HostName.kept(host)
        port = parts.port.map(Int64.init)
        path = ["", "/"].contains(parts.percentEncodedPath) ? nil : parts.percentEncodedPath
        account = parts.user.flatMap { $0.isEmpty ? nil : $0 }
    }
}
