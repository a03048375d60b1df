import ArgumentParser
package import VaubanLinuxHost
package import VaubanSecretBytes

/// For verbs that can make the secret up.
package struct GenerationOptions: ParsableArguments {
    @Flag(help: "Generate the secret and store it without showing it (default: 20 characters of all classes).")
    var generate = false

    @Option(help: ArgumentHelp("With --generate: the number of characters.", valueName: "n"))
    var length: Int?

    @Option(
        help: ArgumentHelp(
            "With --generate: the character classes, at least one character of each: lower, upper, digits, symbols; separated by commas.",
            valueName: "classes"),
        completion: .list(CharacterClasses.allValueStrings))
    var characters: CharacterClasses?

    @Option(help: ArgumentHelp("With --generate: this number of words from a list of 7,776, separated by full stops.", valueName: "n"))
    var words: Int?

    private static let lengthDefault = 20
    private static let lengthMax = 1024
    private static let wordsMax = 64

    package init() {}

    package func validate() throws {
        guard generate else {
            if length != nil || characters != nil || words != nil {
                throw ValidationError("--length, --characters and --words require --generate.")
            }
            return
        }
        if words != nil, length != nil || characters != nil {
            throw ValidationError("--words cannot be combined with --length or --characters.")
        }
        if let words, !(1...Self.wordsMax).contains(words) { throw ValidationError("--words must be from 1 to \(Self.wordsMax).") }
        guard (classes.count...Self.lengthMax).contains(charactersCount) else {
            throw ValidationError("--length must be from \(classes.count), one character of each class, to \(Self.lengthMax).")
        }
    }

    private var classes: [CharacterClass] { (characters ?? .everything).all }
    private var charactersCount: Int { length ?? Self.lengthDefault }

    package func make() throws(SystemError) -> SecretBytes {
        guard let words else { return try GeneratedSecret.characters(charactersCount, of: classes) }
        return try GeneratedSecret.words(words)
    }

    /// What was made and what guessing it costs, for the user; nothing of the secret itself.
    package var summary: String {
        let bits = words.map { GeneratedSecret.bits(words: $0) } ?? GeneratedSecret.bits(characters: charactersCount, of: classes)
        let what =
            words.map { "\(count($0, "word")) from a list of \(WordList.words.count)" }
            ?? "\(count(charactersCount, "character")) from a set of \(classes.reduce(0) { $0 + $1.signs.count })"
        return "\(what), \(Int(bits)) bits of entropy"
    }
}
