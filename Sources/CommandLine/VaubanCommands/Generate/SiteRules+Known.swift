import Foundation
package import VaubanPasswordRules
package import VaubanRefusal
import VaubanSecretBytes

extension SiteRules {
    private static let bytesMax = 4 << 20

    /// Returns the rules that come with Vauban and those of the user's file, which take precedence.
    package static func known() throws(Refusal) -> SiteRules {
        let path = "\(try UserServiceFiles.folder("XDG_CONFIG_HOME", ".config"))/vauban/password-rules.json"
        var rules = SiteRules()
        guard FileManager.default.fileExists(atPath: path) else { return rules }
        let file = try InputFile.read(path, max: bytesMax)
        do { try rules.add(json: file.disclosed()) } catch {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(path)) is not in the format of Apple's password-rules.json; correct or remove it")
        }
        return rules
    }
}
