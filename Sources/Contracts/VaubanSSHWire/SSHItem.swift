// How keys for SSH stand among the items (Specs/ssh-agent.md, "Items").

internal import VaubanAccessPolicy
package import VaubanKeychainModel

package enum SSHItem {
    /// A private key of the enclave that is for SSH has this application tag; its label is its name.
    package static let tag = Array("ssh".utf8)
    /// A private key that was imported is a password of this service; its account is its name.
    package static let importedService = "ssh-key"
    /// A certificate is a password of this service; its account is the name of its key.
    package static let certificateService = "ssh-certificate"
    /// Where a public key is registered is a password of this service; its account is the name of its key.
    package static let placesService = "ssh-places"

    /// All keys of the enclave that are for SSH.
    package static var ofEnclave: ItemQuery {
        query(.key, [.applicationTag: .data(tag), .tokenID: .text(EnclaveToken.identifier)])
    }

    package static func passwords(of service: String) -> ItemQuery { query(.genericPassword, [.service: .text(service)]) }

    private static func query(_ kind: ItemKind, _ attributes: [AttributeName: AttributeValue]) -> ItemQuery {
        var query = ItemQuery(
            kind: kind, attributes: ItemAttributes(attributes.merging([.accessGroup: .text(AccessGroup.commandLine)]) { $1 }))
        query.limit = .all
        query.returnsAttributes = true
        query.authenticationUI = .describe
        return query
    }
}
