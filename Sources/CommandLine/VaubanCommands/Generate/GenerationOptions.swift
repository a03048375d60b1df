import ArgumentParser
import VaubanLinuxHost
import VaubanSecretBytes

/// For verbs that can make the secret up.
struct GenerationOptions: ParsableArguments {
    @Flag(help: "Make the secret up, keep it and do not show it; without more, 20 characters of all classes.")
    var generate = false

    @Option(help: ArgumentHelp("With --generate: so many characters.", valueName: "n"))
    var length: Int?

    @Option(
        help: ArgumentHelp(
            "With --generate: characters of these classes, at least one of each: lower, upper, digits, symbols, parted by commas.",
            valueName: "classes"),
        completion: .list(CharacterClasses.allValueStrings))
    var characters: CharacterClasses?

    @Option(help: ArgumentHelp("With --generate: so many words of a list of 7,776 instead, parted by full stops.", valueName: "n"))
    var words: Int?

    private static let lengthDefault = 20
    private static let lengthMax = 1024
    private static let wordsMax = 64

    func validate() throws {
        guard generate else {
            if length != nil || characters != nil || words != nil {
                throw ValidationError("--length, --characters and --words say how a secret is made up: they go with --generate.")
            }
            return
        }
        if words != nil, length != nil || characters != nil {
            throw ValidationError("It is --words, or --length and --characters: not both.")
        }
        if let words, !(1...Self.wordsMax).contains(words) { throw ValidationError("--words is a number from 1 to \(Self.wordsMax).") }
        guard (classes.count...Self.lengthMax).contains(charactersCount) else {
            throw ValidationError("--length is a number from \(classes.count), one character of each class, to \(Self.lengthMax).")
        }
    }

    private var classes: [CharacterClass] { (characters ?? .everything).all }
    private var charactersCount: Int { length ?? Self.lengthDefault }

    func make() throws(SystemError) -> SecretBytes {
        guard let words else { return try GeneratedSecret.characters(charactersCount, of: classes) }
        return try GeneratedSecret.words(words)
    }

    /// What was made and what guessing it costs, for the user; nothing of the secret itself.
    var summary: String {
        let bits = words.map { GeneratedSecret.bits(words: $0) } ?? GeneratedSecret.bits(characters: charactersCount, of: classes)
        let what =
            words.map { "\(count($0, "word")) of a list of \(WordList.words.count)" }
            ?? "\(count(charactersCount, "character")) out of \(classes.reduce(0) { $0 + $1.signs.count })"
        return "\(what), \(Int(bits)) bits of entropy"
    }
}
