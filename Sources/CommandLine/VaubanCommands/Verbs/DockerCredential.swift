import ArgumentParser
import Glibc
import VaubanKeychainClient
import VaubanRefusal

struct DockerCredential: ParsableCommand {
    /// Usage and errors show the name under which docker calls the program.
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: VaubanTool.calledName == programName ? programName : "docker-credential",
            abstract: "Store the logins of docker and podman; run by them.",
            discussion: """
                Implements the protocol of docker-credential-helpers on standard input and output, including errors. The items are \
                internet passwords with the security domain "docker".

                Example:
                  "credsStore": "vauban" in ~/.docker/config.json, then docker login
                  "credHelpers": {"quay.io": "vauban"} in podman's auth.json, then podman login quay.io
                """,
            version: versionText)
    }

    /// Docker finds the program under this name for `"credsStore": "vauban"`.
    static let programName = "docker-credential-vauban"
    static var _errorPrefix: String { VaubanCommand._errorPrefix }
    private static let versionText = "\(programName) (vauban) \(Version.text)"

    @Argument(help: ArgumentHelp("get, store, erase, list or version.", valueName: "operation"))
    var operation: String

    @OptionGroup var user: UserOptions

    func run() throws {
        do {
            try perform()
        } catch let refusal as Refusal {
            // Docker shows standard output, and podman compares it.
            let words = refusal.reason == .itemNotFound ? DockerError.notFound : refusal.message
            writeText("\(words)\n", to: STDOUT_FILENO)
            throw ExitCode(1)
        }
    }

    private func perform() throws {
        switch operation {
        case "version": print(Self.versionText)
        case "get":
            let registry = try DockerMessage.registry(from: STDIN_FILENO)
            try DockerCredentialStore(try ServiceClient(user)).get(registry)
        case "store":
            let login = try DockerMessage.login(from: STDIN_FILENO)
            try DockerCredentialStore(try ServiceClient(user)).store(login)
        case "erase":
            let registry = try DockerMessage.registry(from: STDIN_FILENO)
            try DockerCredentialStore(try ServiceClient(user)).erase(registry)
        case "list": try DockerCredentialStore(try ServiceClient(user)).list()
        default:
            throw Refusal(.badParameter, "\(Self.programName): unknown action: \(SafeText.line(operation, max: 60))")
        }
    }
}
