// Access groups that root grants to programs, in the form of Apple's entitlements (Specs/secitem.md, 7).

package import EnclaveWire
internal import Foundation
package import Logging
package import VaubanAccessPolicy
internal import VaubanLinuxHost
internal import VaubanPlainText

/// The grants of one file. A value of a wrong type counts as absent, and an array with one wrong element is ignored completely.
package struct Entitlements: Hashable, Sendable {
    /// Whether every keychain call is refused.
    package let deniesKeychain: Bool
    /// The websites of the program, in the form of Apple's entitlement.
    package let associatedDomains: [String]
    /// The program's application identifier for websites.
    package let webApplication: String?
    private let keychainGroups: [String]
    private let applicationIdentifiers: [String]
    private let applicationGroups: [String]

    package init(_ list: [String: Any]) {
        func strings(_ key: String) -> [String] { list[key] as? [String] ?? [] }
        func string(_ key: String) -> [String] { (list[key] as? String).map { [$0] } ?? [] }
        deniesKeychain = list["com.apple.private.keychain.deny"] as? Bool ?? false
        keychainGroups = strings("keychain-access-groups")
        let own = string("application-identifier")
        associatedDomains = strings("com.apple.developer.associated-domains")
        webApplication = (own.isEmpty ? string("com.apple.application-identifier") : own).first
        applicationIdentifiers =
            strings("com.apple.developer.associated-application-identifier")
            + (own.isEmpty ? string("com.apple.application-identifier") : own)
        applicationGroups = strings("com.apple.security.application-groups")
    }

    /// Creates the grants of a signature: only what belongs to the signer's team, and nothing of other owners (Specs/code-signing.md).
    package init(of signer: CodeSigner) {
        let list = signer.entitlements.flatMap { CodeEntitlements.isXML($0) ? Self.propertyList($0) : nil } ?? [:]
        func ofTeam(_ key: String) -> [String] {
            (list[key] as? [String] ?? []).filter { $0.hasBytePrefix(signer.team.prefix) || $0.isSameBytes(as: AccessGroup.token) }
        }
        deniesKeychain = list["com.apple.private.keychain.deny"] as? Bool ?? false
        keychainGroups = ofTeam("keychain-access-groups")
        associatedDomains = list["com.apple.developer.associated-domains"] as? [String] ?? []
        webApplication = signer.group
        applicationIdentifiers = [signer.group]
        applicationGroups = ofTeam("com.apple.security.application-groups")
    }

    fileprivate static func propertyList(_ bytes: [UInt8]) -> [String: Any]? {
        (try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil)) as? [String: Any]
    }

    /// Returns the groups in order. A program without an application identifier uses the identifier that the witness determined.
    package func groups(adding application: String) -> [String] {
        let identifiers = applicationIdentifiers.isEmpty ? [application] : applicationIdentifiers
        var groups: [String] = []
        // No program can be granted the command line's group or unsigned items, and `*` is not a wildcard here.
        for group in keychainGroups + identifiers + applicationGroups
        where !groups.containsBytes(of: group) && !Self.reserved.contains(group) && !group.isEmpty && group.utf8.count <= 512 {
            groups.append(group)
        }
        guard let token = groups.firstIndex(of: AccessGroup.token) else { return groups }
        groups.append(groups.remove(at: token))
        return groups
    }

    private static let reserved: Set<String> = ["*", AccessGroup.commandLine, AccessGroup.unsigned, AccessGroup.permissions]
}

/// The files of `/etc/vauban/entitlements`, read once: property lists with Apple's keys and `vauban-applications`, the names of the
/// programs that they apply to.
package struct EntitlementTable: Sendable {
    package static let folder = "/etc/vauban/entitlements"
    private static let fileBytesMax = 65_536
    private static let filesMax = 1024
    /// The grants, by the bytes of the program's name.
    private let byApplication: [[UInt8]: Entitlements]
    /// The names of the teams that root trusts.
    package let teams: [TeamIdentifier: String]

    package static let none = EntitlementTable()

    private init() { (byApplication, teams) = ([:], [:]) }

    func entitlements(of application: ApplicationIdentifier) -> Entitlements? { byApplication[Array(application.text.utf8)] }

    /// Reads the folder, which root owns; tests pass another. A file that is not a property list, or that a user other than root can
    /// change, grants nothing and is logged. If two files name the same program, the first in name order applies.
    package init(folder: String = folder, owner: UInt32 = 0, logger: Logger) {
        var table: [[UInt8]: Entitlements] = [:]
        var teams: [TeamIdentifier: String] = [:]
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasByteSuffix(".plist") }.sorted()
        for name in names.prefix(Self.filesMax) {
            let path = "\(folder)/\(name)"
            guard RootFile.isOnly(of: owner, folder), RootFile.isOnly(of: owner, path),
                let bytes = SmallFile.bytes(path: path, max: Self.fileBytesMax), let file = Self.grants(in: bytes)
            else {
                logger.error(
                    """
                    grants nothing: it must be root's, writable by nobody else, and a property list with vauban-applications or vauban-teams
                    """,
                    metadata: ["file": "\(path)"])
                continue
            }
            for name in file.applications.map({ Array($0.utf8) }) where table[name] == nil { table[name] = file.grants }
            teams.merge(file.teams) { first, _ in first }
        }
        byApplication = table
        self.teams = teams
    }

    /// The content of a file: the programs that it is for and its grants, and the teams that it trusts.
    package struct File {
        package let applications: [String]
        package let grants: Entitlements
        package let teams: [TeamIdentifier: String]
    }

    /// Returns the content of a file; nil if it is not a property list that names programs or teams.
    package static func grants(in bytes: [UInt8]) -> File? {
        guard let list = Entitlements.propertyList(bytes) else { return nil }
        let (applications, teams) = (list["vauban-applications"] as? [String], list["vauban-teams"] as? [String: String])
        guard applications != nil || teams != nil else { return nil }
        var named: [TeamIdentifier: String] = [:]
        for (team, name) in teams ?? [:] where TeamName.isWellFormed(name) { TeamIdentifier(text: team).map { named[$0] = name } }
        return File(applications: applications ?? [], grants: Entitlements(list), teams: named)
    }
}
