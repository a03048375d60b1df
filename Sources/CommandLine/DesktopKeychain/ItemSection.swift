import VaubanCommands
import VaubanKeychainModel
import VaubanSSHWire

/// The kinds of items that the window distinguishes.
package enum ItemSection: Int, CaseIterable, Sendable {
    case all, passwords, codes, keys, certificates, secrets

    package var title: String {
        switch self {
        case .all: "All Items"
        case .passwords: "Passwords"
        case .codes: "Codes"
        case .keys: "Keys"
        case .certificates: "Certificates"
        case .secrets: "Notes and Secrets"
        }
    }

    /// The kind of one item, in the singular.
    package var noun: String {
        switch self {
        case .all: "Item"
        case .passwords: "Password"
        case .codes: "One-time code"
        case .keys: "Key"
        case .certificates: "Certificate"
        case .secrets: "Note or secret"
        }
    }

    /// An icon of the desktop's icon theme (freedesktop's and Adwaita's names).
    package var iconName: String {
        switch self {
        case .all: "view-list-symbolic"
        case .passwords: "dialog-password-symbolic"
        case .codes: "preferences-system-time-symbolic"
        case .keys: "channel-secure-symbolic"
        case .certificates: "application-certificate-symbolic"
        case .secrets: "text-x-generic-symbolic"
        }
    }

    /// The description that imports from other password managers give a note.
    static let noteDescription = "secure note"

    static func isNote(_ record: ItemRecord) -> Bool { record.text(.description) == noteDescription }

    /// Returns the kind of an item, from its class and from the services to which Vauban gives a meaning (Specs/item-attributes.md).
    init(of record: ItemRecord) {
        switch record.kind {
        case .internetPassword: self = .passwords
        case .certificate: self = .certificates
        case .key, .identity: self = .keys
        case .genericPassword, .permission:
            let service = record.text(.service)
            if service.hasPrefix(ImportPlan.codesPrefix) {
                self = .codes
            } else if service == SSHItem.importedService {
                self = .keys
            } else if service == SSHItem.certificateService {
                self = .certificates
            } else if service.hasPrefix(ImportPlan.fieldsPrefix) || [SSHItem.placesService, SSHItem.holdService].contains(service)
                || record.attributes[.secretServiceAttributes] != nil || Self.isNote(record)
            {
                self = .secrets
            } else {
                self = .passwords
            }
        }
    }
}
