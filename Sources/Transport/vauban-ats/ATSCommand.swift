import ArgumentParser

/// `vauban ats`: transport security tried on real servers.
@main
struct ATSCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vauban ats", abstract: "Try App Transport Security on a server.",
        discussion: "Exits 0 if the server is allowed, 1 if a rule refuses it, and 2 if it cannot be reached.",
        subcommands: [LoadCommand.self, DiagnoseCommand.self])
}
