// What verbs that list something print with --json: an array of these. Keys must not change, since scripts use them; unknown values are
// left out.

package import Foundation
import VaubanAccessPolicy
import VaubanCodeSigning
package import VaubanKeychainModel
package import VaubanKeychainWire
import VaubanSSHWire

/// A row of `vauban ssh list --json`.
struct SSHKeyDocument: Encodable {
    let name: String
    let type: String
    let fingerprint: String
    /// The line for authorized_keys.
    let publicKey: String
    let imported: Bool
    let readable: String
    let asks: Bool
    /// For how long an answer holds; left out if it is for one signature.
    let holdSeconds: Int64?
    /// Left out if the key has none.
    let certificate: Certificate?

    struct Certificate: Encodable {
        /// The name that the authority assigned.
        let name: String
        /// Left out if the certificate has no end.
        let validUntil: Date?
    }

    init(_ key: SSHKeyOfUser, _ certificate: SSHCertificate?) {
        name = key.name
        type = key.publicKey.type.rawValue
        fingerprint = key.fingerprint
        publicKey = key.line
        imported = !key.isOfEnclave
        readable = key.protection.shownName
        asks = key.needsApproval
        holdSeconds = key.hold?.seconds
        self.certificate = certificate.map { certificate in
            let end = certificate.validBefore.flatMap { Date(timeIntervalSince1970: Double($0)).microseconds }
            return Certificate(name: certificate.keyID, validUntil: end.map { Date(microseconds: $0) })
        }
    }
}

/// A row of `vauban team list --json`.
struct TeamDocument: Encodable {
    enum Kind: String, Encodable { case own, trusted }

    let kind: Kind
    let team: String
    let name: String
    /// Whether signing requires approval, for a team of the user's own.
    let asks: Bool?
    /// Whether root trusts the team for everybody, for a trusted team.
    let byRoot: Bool?

    init(_ key: TeamKey) {
        kind = .own
        team = key.team.text
        name = key.name
        asks = key.needsApproval
        byRoot = nil
    }

    /// - Parameter permission: One of the kind `team`.
    init(trusted permission: Permission) {
        let words = permission.object.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
        kind = .trusted
        team = permission.subject
        name = words.first.map(String.init) ?? ""
        asks = nil
        byRoot = words.count > 1
    }
}

/// A row of `vauban allow --json`. Names are whole, unlike in the text.
package struct PermissionDocument: Encodable, Hashable {
    package enum Kind: String, Encodable { case reads, sameProgram, newBuilds, team, offers }

    package let kind: Kind
    package let subject: String
    /// Left out for the kind `newBuilds`.
    package let object: String?
    /// Whether root trusts the team for everybody; left out for other kinds.
    package let byRoot: Bool?

    package init(_ permission: Permission) {
        kind =
            switch permission.kind {
            case .reads: .reads
            case .sameProgram: .sameProgram
            case .buildsIn: .newBuilds
            case .team: .team
            case .offers: .offers
            }
        subject = permission.subject
        let team = permission.kind == .team ? TeamDocument(trusted: permission) : nil
        object = team?.name ?? (permission.object.isEmpty ? nil : permission.object)
        byRoot = team?.byRoot
    }

    /// Returns the permissions in an order that does not depend on that of the keychain.
    package static func sorted(_ permissions: [Permission]) -> [PermissionDocument] {
        permissions.map { PermissionDocument($0) }.sorted {
            ($0.kind.rawValue, $0.subject, $0.object ?? "") < ($1.kind.rawValue, $1.subject, $1.object ?? "")
        }
    }
}

/// A row of `vauban history --json`.
package struct EarlierValueDocument: Encodable {
    package let number: Int
    package let changed: Date
    package let replaced: Date
    package let readable: String
    package let asks: Bool
    /// The item as it was.
    package let attributes: ItemDescription
    /// The keys of the attributes that the item has now with another content, or that only one of both has.
    package let differs: [String]

    package init(_ number: Int, _ version: ItemVersion, present: ItemRecord) {
        self.number = number
        changed = Date(microseconds: version.changed)
        replaced = Date(microseconds: version.replaced)
        readable = version.record.protectionName
        asks = version.record.needsApproval
        attributes = ItemDescription(version.record)
        differs = attributes.differences(from: ItemDescription(present)).map(\.key)
    }
}

/// A row of `vauban finger list --json`.
struct FingerDocument: Encodable {
    let name: String
}
