// Entitlements as a developer writes them, made ready for a signature (Specs/code-signing.md).

import Foundation
import VaubanAccessPolicy
import VaubanCodeSigning
import VaubanPlainText
import VaubanRefusal
import VaubanSecretBytes

struct SigningEntitlements {
    /// An XML property list.
    let bytes: [UInt8]

    private static let fileBytesMax = 65_536

    /// Reads a property list, replaces the variables in it, and throws if a part of it would have no effect.
    init(file path: String, team: TeamIdentifier, identifier: String) throws {
        let content = try InputFile.read(path, max: Self.fileBytesMax)
        let data = content.withUnsafeBytes { Data($0) }
        guard let list = (try? PropertyListSerialization.propertyList(from: data, format: nil)) as? [String: Any] else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) is not a property list with a dictionary, as Xcode writes entitlements")
        }
        let variables = [
            "AppIdentifierPrefix": team.prefix, "TeamIdentifierPrefix": team.prefix, "CFBundleIdentifier": identifier,
            "PRODUCT_BUNDLE_IDENTIFIER": identifier,
        ]
        let resolved = try list.mapValues { try Self.resolve($0, variables) }
        try Self.check(resolved, team: team, identifier: identifier)
        let written = try PropertyListSerialization.data(fromPropertyList: resolved, format: .xml, options: 0)
        guard written.count <= CodeDescription.entitlementsBytesMax else {
            throw Refusal(.dataTooLarge, "The entitlements are longer than \(CodeDescription.entitlementsBytesMax) bytes")
        }
        bytes = Array(written)
    }

    private static func resolve(_ value: Any, _ variables: [String: String]) throws(Refusal) -> Any {
        switch value {
        case let text as String:
            var resolved = text
            for (name, replacement) in variables {
                for form in ["$(\(name))", "${\(name)}"] { resolved = resolved.replacingOccurrences(of: form, with: replacement) }
            }
            guard !resolved.contains("$(") && !resolved.contains("${") else {
                throw Refusal(.badParameter, "The entitlements have an unknown variable in \(SafeText.visible(text))")
            }
            return resolved
        case let list as [Any]:
            var resolved: [Any] = []
            for element in list { resolved.append(try resolve(element, variables)) }
            return resolved
        case let dictionary as [String: Any]:
            var resolved: [String: Any] = [:]
            for (key, value) in dictionary { resolved[key] = try resolve(value, variables) }
            return resolved
        default: return value
        }
    }

    private static let applicationKeys = ["application-identifier", "com.apple.application-identifier"]
    private static let groupKeys = ["keychain-access-groups", "com.apple.security.application-groups"]

    private static func check(_ list: [String: Any], team: TeamIdentifier, identifier: String) throws(Refusal) {
        for key in applicationKeys {
            guard let value = list[key] else { continue }
            guard let text = value as? String, text.isSameBytes(as: "\(team.prefix)\(identifier)") else {
                throw Refusal(
                    .badParameter,
                    "\(key) must be $(AppIdentifierPrefix)\(identifier); leave it out, or sign with another --identifier")
            }
        }
        if let named = list["com.apple.developer.team-identifier"], (named as? String) != team.text {
            throw Refusal(.badParameter, "com.apple.developer.team-identifier names another team than \(team); leave it out")
        }
        for key in groupKeys {
            guard let value = list[key] else { continue }
            guard let groups = value as? [String] else { throw Refusal(.badParameter, "\(key) must be an array of texts") }
            for group in groups where !group.hasBytePrefix(team.prefix) && group != AccessGroup.token {
                throw Refusal(
                    .badParameter,
                    """
                    The group \(SafeText.visible(group)) in \(key) does not belong to the team. Write $(AppIdentifierPrefix)\
                    \(SafeText.visible(group)), or ask root to grant it
                    """)
            }
        }
        if let domains = list["com.apple.developer.associated-domains"], !(domains is [String]) {
            throw Refusal(.badParameter, "com.apple.developer.associated-domains must be an array of texts")
        }
    }
}
