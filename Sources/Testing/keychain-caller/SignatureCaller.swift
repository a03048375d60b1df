// `keychain-caller signature PATH|self` prints what Apple's API reports about the signature of a file or of this program, and
// `keychain-caller task` what it reports about this program as the keychain sees it. What is missing is `-`.

import Foundation
import Security

struct SignatureCaller {
    /// The path of a file; nil for this program.
    let path: String?

    /// Parses what follows the word `signature`; nil is a usage error.
    init?(_ words: [String]) {
        guard words.count == 1 else { return nil }
        path = words[0] == "self" ? nil : words[0]
    }

    static let usage = "keychain-caller signature PATH|self"

    /// Prints the status of the validity, and that of the information with the identifier, the team, the time, the digest and the groups.
    func run() -> Never {
        let (validity, code) = examine()
        guard let file = code else {
            print(validity)
            exit(0)
        }
        var information: CFDictionary?
        let status = SecCodeCopySigningInformation(file, [], &information)
        let found = information as? [String: Any] ?? [:]
        let signed = (found[kSecCodeInfoTime as String] as? Date).map { "\(Int64($0.timeIntervalSince1970))" }
        let digest = (found[kSecCodeInfoUnique as String] as? Data)?.map { String(format: "%02x", $0) }.joined()
        let entitlements = found[kSecCodeInfoEntitlementsDict as String] as? [String: Any]
        let words = [
            found[kSecCodeInfoIdentifier as String] as? String, found[kSecCodeInfoTeamIdentifier as String] as? String, signed, digest,
            (entitlements?["keychain-access-groups"] as? [String])?.joined(separator: ","),
        ]
        print("\(validity) \(status) \(words.map { $0 ?? "-" }.joined(separator: " "))")
        exit(0)
    }

    /// Returns the status of the validity, and the code; nil if there is none.
    private func examine() -> (validity: OSStatus, code: SecStaticCode?) {
        var file: SecStaticCode?
        if let path {
            let status = SecStaticCodeCreateWithPath(NSURL(fileURLWithPath: path), [], &file)
            return (file.map { SecStaticCodeCheckValidity($0, [], nil) } ?? status, file)
        }
        var own: SecCode?
        SecCodeCopySelf([], &own)
        guard let running = own else { return (errSecInternal, nil) }
        let status = SecCodeCopyStaticCode(running, [], &file)
        return (file == nil ? status : SecCodeCheckValidity(running, [], nil), file)
    }

    /// Prints the identifier under which this program was signed, its team, its application identifier and its groups.
    static func runTask() -> Never {
        guard let task = SecTaskCreateFromSelf(nil) else { exit(70) }
        func text(_ entitlement: CFString) -> String? { SecTaskCopyValueForEntitlement(task, entitlement, nil) as? String }
        let groups = SecTaskCopyValueForEntitlement(task, "keychain-access-groups", nil) as? [String]
        let words = [
            SecTaskCopySigningIdentifier(task, nil) as String?, text("com.apple.developer.team-identifier"), text("application-identifier"),
            groups?.joined(separator: ","),
        ]
        print(words.map { $0 ?? "-" }.joined(separator: " "))
        exit(0)
    }
}
