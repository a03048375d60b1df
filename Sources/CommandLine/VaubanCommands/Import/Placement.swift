import Foundation
package import VaubanKeychainModel
import VaubanSecretBytes
import VaubanSecretText

/// The server attributes in a URL or a bare host name.
package struct SourceURL {
    package let server: String
    package let port: Int64
    package let path: String
    package let protocolCode: String?
    /// Whether the attributes represent the text completely.
    package let isWhole: Bool
    package let hasPassword: Bool
    package let isBareHost: Bool

    /// Returns nil if the text does not name a server.
    package init?(_ text: String) {
        let isBareHost = !text.contains("://") && Self.looksLikeHost(text)
        let whole = isBareHost ? "//\(text)" : text
        guard let parts = URLComponents(string: whole), let host = HostName.inASCII(parts), (1...65535).contains(parts.port ?? 1) else {
            return nil
        }
        server = HostName.kept(host)
        port = Int64(parts.port ?? 0)
        path = parts.percentEncodedPath
        protocolCode = parts.scheme.flatMap(ProtocolCode.known)
        hasPassword = parts.password != nil
        self.isBareHost = isBareHost
        let again = (parts.scheme.map { "\($0):" } ?? "") + "//\(host)" + (parts.port.map { ":\($0)" } ?? "") + path
        isWhole = again == whole && (protocolCode != nil || isBareHost)
    }

    /// Whether the text, even if it does not name a server, has a part before an `@` that may be a password.
    package static func mayHoldPassword(_ text: String) -> Bool {
        let bytes = Array((text.range(of: "://").map { text[$0.upperBound...] } ?? text[...]).utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return false }
        return colon < at
    }

    /// Whether the text looks like a host: `example.com`, `example.com:8080/login`, `localhost`. It has no spaces and no `@`, and it has a
    /// dot or a port or is `localhost`.
    private static func looksLikeHost(_ text: String) -> Bool {
        let host = text.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let name = host.prefix { $0 != ":" }
        guard let first = name.first, first != ".", !text.contains(where: \.isWhitespace) else { return false }
        let hasPort = host.count > name.count && host.dropFirst(name.count + 1).allSatisfy(\.isNumber)
        guard host.count == name.count || hasPort else { return false }
        guard name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" || $0 == "_" }) else { return false }
        return name.contains(".") || hasPort || name.lowercased() == "localhost"
    }
}

/// The place of a login in the keychain: an internet password by its first URL that names a server, otherwise a generic password by its
/// title.
package struct Placement {
    package let kind: ItemKind
    package private(set) var attributes: ItemAttributes
    /// The name from which the names of companions are derived.
    package let name: String
    /// URLs that the attributes do not represent completely.
    package private(set) var fields: [SourceField] = []
    package private(set) var changes: [String] = []

    package init(_ source: SourceRecord, needsServer: Bool = true) {
        let urls = source.urls.filter { !$0.isEmpty }
        let index = needsServer ? urls.firstIndex { SourceURL($0) != nil } : nil
        if let index, let url = SourceURL(urls[index]) {
            kind = .internetPassword
            attributes = ItemAttributes([
                .server: .text(url.server), .port: .number(url.port), .path: .text(url.path), .account: .text(source.username),
                .label: .text(source.title.isEmpty ? url.server : source.title),
            ])
            if let code = url.protocolCode { attributes[.protocolName] = .text(code) }
            if !source.realm.isEmpty { attributes[.securityDomain] = .text(source.realm) }
            name = LoginName.of(server: url.server, port: url.port)
            if url.isBareHost { changes.append("url: used as a server name") }
        } else {
            kind = .genericPassword
            // An address that may contain a password must not become a name.
            let title = source.title.isEmpty ? urls.first { !SourceURL.mayHoldPassword($0) } ?? "" : source.title
            let given = source.name ?? (title, source.username)
            let service = given.service.isEmpty ? "unnamed" : given.service
            attributes = ItemAttributes([
                .service: .text(service), .account: .text(given.account), .label: .text(source.title.isEmpty ? service : source.title),
            ])
            name = service
            if given.service.isEmpty { changes.append("name: it had none") }
            if source.name != nil, !source.username.isEmpty, source.username != given.account {
                add("user", text: source.username, as: .content)
            }
            if !source.realm.isEmpty { add("httpRealm", text: source.realm, as: .about) }
        }
        for (number, text) in urls.enumerated() {
            let url = SourceURL(text)
            if number == index, url?.isWhole == true { continue }
            add("url", text: text, as: url?.hasPassword ?? SourceURL.mayHoldPassword(text) ? .hidden : .content)
            if number == index { changes.append("url: stored in full with the item") }
            if url == nil { changes.append("url: names no server; stored with the item") }
        }
    }

    private mutating func add(_ name: String, text: String, as kind: SourceField.Kind) {
        fields.append(SourceField(name: name, value: SecretBox(SecretBytes(copying: Array(text.utf8))), kind: kind))
    }
}
