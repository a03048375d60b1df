import ArgumentParser

struct ATSVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ats",
        abstract: "Try App Transport Security on a server.",
        discussion: """
            `load` loads a URL as a program with this Info.plist would, and names the rule that refuses it. `diagnose` loads it under \
            sixteen sets of exceptions and prints which are enough. Exits 0 if the server is allowed, 1 if a rule refuses it, and 2 \
            if it cannot be reached.

            Example:
              vauban ats diagnose https://example.com
              vauban ats load --plist Info.plist https://example.com
            """)

    @Argument(parsing: .captureForPassthrough, help: "load or diagnose, options, and the URL; vauban ats --help lists the options.")
    var words: [String] = []

    /// Executes vauban-ats in this process, since the command line itself has no network access.
    func run() throws { throw ExitCode(CommandEnvironment().become([try InstalledPrograms.path(of: "vauban-ats")] + words, closing: nil)) }
}
