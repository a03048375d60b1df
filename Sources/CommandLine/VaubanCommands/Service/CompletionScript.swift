/// The completion scripts that the parser generates, put right.
enum CompletionScript {
    /// fish refuses a list of options that names one twice. `vauban get --version NUMBER` takes the place of the `--version` that every
    /// verb has, and both would stand in the list.
    static func repaired(_ text: String) -> String {
        guard text.contains("complete -c 'vauban'") else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.contains(" 'version=' ") ? String($0).replacing(" 'version' ", with: " ") : String($0) }.joined(separator: "\n")
    }
}
