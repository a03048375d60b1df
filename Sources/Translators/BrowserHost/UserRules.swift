internal import FoundationEssentials
import Glibc
internal import VaubanLinuxHost
internal import VaubanPasswordRules
internal import VaubanPlainText
internal import VaubanRefusal

/// The rules for the passwords of sites, with those of the user, and where the user's files about sites are.
enum UserRules {
    /// Returns the rules that come with Vauban and those of the user's file, which take precedence. Throws a refusal if there is a file
    /// that cannot be read or parsed.
    static func known() throws(Refusal) -> SiteRules {
        var rules = SiteRules()
        guard let path = Self.path(of: SiteRules.fileName) else { return rules }
        let shown = PlainLine.of(path, charactersMax: BrowserLimits.nameCharactersMax)
        do {
            guard let bytes = SmallFile.bytes(path: path, max: SiteRules.fileBytesMax) else { throw Refusal(.badParameter) }
            try rules.add(json: Data(bytes))
        } catch let fault as PasswordRulesError {
            let words = PlainLine.of("\(fault)", charactersMax: 2 * BrowserLimits.nameCharactersMax)
            throw Refusal(.badParameter, "\(shown) is invalid in \(words); correct or remove it")
        } catch {
            throw Refusal(.badParameter, "\(shown) is not in the format of Apple's password-rules.json; correct or remove it")
        }
        return rules
    }

    /// Returns the path of the user's file of this name about sites; nil if there is none.
    static func path(of file: String) -> String? {
        guard let path = SiteRules.path(settings: variable("XDG_CONFIG_HOME"), home: variable("HOME"), file: file) else { return nil }
        return access(path, F_OK) == 0 ? path : nil
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
