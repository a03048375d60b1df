/// The user and the nodes, from the file `account` with lines `user NAME` and `endpoint URL`.
package struct EtcdAccount: Hashable, Sendable {
    package static let bytesMax = 8192
    package static let endpointsMax = 9

    package let user: String
    package let endpoints: [EtcdEndpoint]

    /// - Throws: `EtcdError` with the line that is invalid.
    package init(_ text: String) throws(EtcdError) {
        var users: [String] = []
        var endpoints: [EtcdEndpoint] = []
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 2 else { throw .account("The file account has a line that is neither \"user NAME\" nor \"endpoint URL\"") }
            switch words[0] {
            case "user": users.append(words[1])
            case "endpoint": endpoints.append(try EtcdEndpoint(words[1]))
            default: throw .account("The file account has a line that is neither \"user NAME\" nor \"endpoint URL\"")
            }
        }
        guard users.count == 1, EtcdKeys.isUser(users[0]) else {
            throw .account("The file account needs one line \"user NAME\", with a name of lowercase letters, digits and hyphens")
        }
        guard (1...Self.endpointsMax).contains(endpoints.count), Set(endpoints).count == endpoints.count else {
            throw .account("The file account needs 1 to \(Self.endpointsMax) different lines \"endpoint https://HOST:2379\"")
        }
        guard Set(endpoints.map(\.isSecure)).count == 1 else {
            throw .account("The file account has endpoints with https:// and with http://; write https:// for each")
        }
        user = users[0]
        self.endpoints = endpoints
    }

    /// Whether it requires an authority, a certificate, a key and a password. Otherwise it may have none of them.
    package var isSecure: Bool { endpoints.allSatisfy(\.isSecure) }

    /// The TCP ports of the endpoints, and that of name servers.
    package var ports: [UInt16] { Set(endpoints.map(\.port) + [53]).sorted().map { UInt16($0) } }

    package var description: String { "\(user) at \(endpoints.map(\.description).joined(separator: ", "))" }
}
