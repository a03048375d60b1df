import ArgumentParser

/// Words after the one that names an item. They are captured so that no message repeats them, since they may be a secret.
struct ExtraArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("Nothing: an item is one argument.", visibility: .hidden))
    var words: [String] = []

    /// Rejects further words for a verb that takes one item, and shows how to name it.
    func requireNone(after selection: ItemSelection, for verb: String) throws {
        guard let word = words.first else { return }
        let name = [selection.shown, SafeText.line(word, max: 150)].joined(separator: "/")
        throw ValidationError("An item is one argument, service/account: vauban \(verb) \(SafeText.word(name))")
    }
}
