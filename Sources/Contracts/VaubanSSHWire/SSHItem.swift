// SSH keys as keychain items (Specs/ssh-agent.md, "Items").

internal import VaubanAccessPolicy
package import VaubanKeychainModel

package enum SSHItem {
    /// The application tag of enclave keys for SSH; their label is the name.
    package static let tag = Array("ssh".utf8)
    /// The service of imported private keys, which are password items; the account is the name.
    package static let importedService = "ssh-key"
    /// The service of certificates, which are password items; the account is the name of the key.
    package static let certificateService = "ssh-certificate"
    /// The service of passwords that list the places where a public key is registered; the account is the name of the key.
    package static let placesService = "ssh-places"
    /// The service of items with the time for which an answer holds for a key; the account is the name of the key.
    package static let holdService = "ssh-hold"

    /// A query for all enclave keys for SSH.
    package static var ofEnclave: ItemQuery {
        query(.key, [.applicationTag: .data(tag), .tokenID: .text(EnclaveToken.identifier)])
    }

    package static func passwords(of service: String) -> ItemQuery { query(.genericPassword, [.service: .text(service)]) }

    private static func query(_ kind: ItemKind, _ attributes: [AttributeName: AttributeValue]) -> ItemQuery {
        var query = ItemQuery(
            kind: kind, attributes: ItemAttributes(attributes.merging([.accessGroup: .text(AccessGroup.commandLine)]) { $1 }))
        query.limit = .all
        query.returns.insert(.attributes)
        query.authenticationUI = .describe
        return query
    }
}
