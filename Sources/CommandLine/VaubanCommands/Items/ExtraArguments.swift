import ArgumentParser

/// Words after the one that names an item. They are captured so that no message repeats them, since they may be a secret.
struct ExtraArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("Nothing: an item is one argument.", visibility: .hidden))
    var words: [String] = []

    /// Rejects further words for a verb that takes one item, and shows how to name it.
    func requireNone(after selection: ItemSelection, for verb: String) throws {
        guard let word = words.first else { return }
        guard words.count == 1, !selection.shown.contains("/"), !word.contains("/") else {
            let name = SafeText.word(SafeText.line(([selection.shown] + words).joined(separator: " "), max: 150))
            throw ValidationError("vauban \(verb) takes one item; put a name with spaces in quotation marks: vauban \(verb) \(name)")
        }
        let name = [selection.shown, SafeText.line(word, max: 150)].joined(separator: "/")
        throw ValidationError("An item is one argument, service/account: vauban \(verb) \(SafeText.word(name))")
    }
}
