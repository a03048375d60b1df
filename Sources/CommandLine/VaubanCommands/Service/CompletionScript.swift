/// Corrections to the completion scripts that the parser generates.
enum CompletionScript {
    /// Returns the script without duplicate options, which fish rejects. `vauban get --version NUMBER` replaces the `--version` of all
    /// verbs, and the generated list contains both.
    static func repaired(_ text: String) -> String {
        guard text.contains("complete -c 'vauban'") else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.contains(" 'version=' ") ? String($0).replacing(" 'version' ", with: " ") : String($0) }.joined(separator: "\n")
    }
}
