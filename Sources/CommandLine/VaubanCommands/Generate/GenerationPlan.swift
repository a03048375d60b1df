package import VaubanLinuxHost
package import VaubanPasswordRules
package import VaubanSecretBytes

/// The kind of secret to generate.
package enum GenerationPlan {
    case words(Int)
    case characters(PasswordForm)
    /// A password that meets the rules of a site.
    case site(PasswordForm, String)
    /// A password for a site without known rules.
    case unknownSite(PasswordForm, String)

    package func make() throws(SystemError) -> SecretBytes {
        switch self {
        case .words(let count): return try GeneratedWords.make(count)
        case .characters(let form), .site(let form, _), .unknownSite(let form, _):
            var numbers = try UnbiasedNumbers()
            return try form.password { bound throws(SystemError) in try numbers.next(below: bound) }
        }
    }

    /// A description of the secret's form and its entropy for the user, without anything of the secret itself.
    package var summary: String {
        switch self {
        case .words(let number):
            "\(count(number, "word")) from a list of \(WordList.words.count), \(Int(GeneratedWords.bits(number))) bits of entropy"
        case .characters(let form): Self.summary(form)
        case .site(let form, let site): "\(Self.summary(form)), by the rules of \(site)"
        case .unknownSite(let form, let site): "\(Self.summary(form)); no rules of \(site) are known"
        }
    }

    private static func summary(_ form: PasswordForm) -> String {
        "\(count(form.count, "character")) from a set of \(form.alphabet.count), \(Int(form.bits)) bits of entropy"
    }
}
