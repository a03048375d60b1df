import Foundation
import VaubanLinuxHost
package import VaubanPasswordRules
package import VaubanRefusal

extension SiteRules {
    /// Returns the rules that come with Vauban and those of the user's file, which take precedence. Throws a refusal if the file cannot be
    /// read or parsed.
    package static func known() throws(Refusal) -> SiteRules {
        let variables = ProcessInfo.processInfo.environment
        guard let path = path(settings: variables["XDG_CONFIG_HOME"], home: variables["HOME"]) else {
            throw Refusal(.unavailable, "No home folder: HOME and XDG_CONFIG_HOME are unset")
        }
        var rules = SiteRules()
        guard FileManager.default.fileExists(atPath: path) else { return rules }
        guard let bytes = SmallFile.bytes(path: path, max: fileBytesMax) else {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(path)) cannot be read, or is not a file of at most \(fileBytesMax >> 20) MiB; correct or remove it")
        }
        do {
            try rules.add(json: Data(bytes))
        } catch let fault as PasswordRulesError {
            throw Refusal(
                .badParameter, "\(SafeText.visible(path)) is invalid in \(SafeText.line("\(fault)", max: 300)); correct or remove it")
        } catch {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(path)) is not in the format of Apple's password-rules.json; correct or remove it")
        }
        return rules
    }
}
