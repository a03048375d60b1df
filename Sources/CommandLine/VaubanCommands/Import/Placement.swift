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
    /// The scheme in lower case; nil if the text has none.
    package let scheme: String?

    /// Whether the host is the server of a known protocol. That of another scheme may be the name of an application
    /// (`android://…@com.example.app/`), which must not become the name of a server: the password would be offered to the owner of that
    /// server's name.
    package var namesServer: Bool { scheme == nil || protocolCode != nil }

    /// Whether it is a web address.
    package var isOfWeb: Bool { [nil, "https", "http"].contains(scheme) }

    /// Returns nil if the text has no host.
    package init?(_ text: String) {
        let isBareHost = !text.contains("://") && Self.looksLikeHost(text)
        let whole = isBareHost ? "//\(text)" : text
        guard let parts = URLComponents(string: whole), let host = HostName.inASCII(parts), (1...65535).contains(parts.port ?? 1) else {
            return nil
        }
        server = HostName.kept(host)
        port = Int64(parts.port ?? 0)
        path = parts.percentEncodedPath
        scheme = parts.scheme?.lowercased()
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
    package static func looksLikeHost(_ text: String) -> Bool {
        let host = text.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let name = host.prefix { $0 != ":" }
        guard let first = name.first, first != ".", !text.contains(where: \.isWhitespace) else { return false }
        let hasPort = host.count > name.count && host.dropFirst(name.count + 1).allSatisfy(\.isNumber)
        guard host.count == name.count || hasPort else { return false }
        guard name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" || $0 == "_" }) else { return false }
        return name.contains(".") || hasPort || name.lowercased() == "localhost"
    }
}

/// The place of a login in the keychain: an internet password by its first URL of the web, or else of another known protocol; otherwise a
/// generic password by its title.
package struct Placement {
    package let kind: ItemKind
    package private(set) var attributes: ItemAttributes
    /// The name from which the names of attached items are derived.
    package let name: String
    /// URLs that the attributes do not represent completely.
    package private(set) var fields: [SourceField] = []
    package private(set) var changes: [String] = []

    package init(_ source: SourceRecord, needsServer: Bool = true) {
        let urls = source.urls.filter { !$0.isEmpty }
        let addresses = urls.map { SourceURL($0) }
        let isOfWeb = { (url: SourceURL?) in url?.isOfWeb ?? false }
        let namesServer = { (url: SourceURL?) in url?.namesServer ?? false }
        let index = needsServer ? addresses.firstIndex(where: isOfWeb) ?? addresses.firstIndex(where: namesServer) : nil
        if let index, let url = addresses[index] {
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
            let given = source.name ?? (Self.service(source, urls), source.username)
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
            let url = addresses[number]
            if number == index, url?.isWhole == true { continue }
            add("url", text: text, as: url?.hasPassword ?? SourceURL.mayHoldPassword(text) ? .hidden : .content)
            if number == index { changes.append("url: stored in full with the item") }
            if !namesServer(url) { changes.append("url: names no server; stored with the item") }
        }
    }

    /// Returns the service of a generic password: the title, or without one an address, unless that may contain a password. With the
    /// address of an application it is nothing that a browser takes for a host, such as `com.example.app`.
    private static func service(_ source: SourceRecord, _ urls: [String]) -> String {
        let application = urls.lazy.compactMap { SourceURL($0) }.first { !$0.namesServer }
        guard let application, let scheme = application.scheme else {
            return source.title.isEmpty ? urls.first { !SourceURL.mayHoldPassword($0) } ?? "" : source.title
        }
        let name = source.title.isEmpty ? application.server : source.title
        return SourceURL.looksLikeHost(name) ? "\(name) (\(scheme))" : name
    }

    private mutating func add(_ name: String, text: String, as kind: SourceField.Kind) {
        fields.append(SourceField(name: name, value: SecretBox(SecretBytes(copying: Array(text.utf8))), kind: kind))
    }
}
