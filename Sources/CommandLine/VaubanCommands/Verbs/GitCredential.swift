import ArgumentParser
import Glibc
import VaubanSecretBytes

struct GitCredential: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "git-credential",
        abstract: "Keeps git's passwords; git runs this.",
        discussion: """
            Git says on standard input what it wants, as gitcredentials(7) has it. The items are passwords of servers: server, \
            protocol, account, and the path where git sends one.

            Example:
              git config --global credential.helper vauban
              vauban set --server example.com --account anna --protocol https
            """)

    /// Under this name git finds the program by itself, for `credential.helper = vauban`.
    static let programName = "git-credential-vauban"

    @Argument(help: ArgumentHelp("get, store or erase; what else git may say is passed over.", valueName: "operation"))
    var operation: String

    @OptionGroup var user: UserOptions

    func run() throws {
        guard ["get", "store", "erase"].contains(operation) else { return }
        let request = try GitCredentialRequest.read(from: STDIN_FILENO)
        guard let place = request.place else { return }
        let store = GitCredentialStore(try Session(user), place)
        switch operation {
        case "get": try store.get(account: request.account)
        case "erase": try store.erase(account: request.account, password: request.password)
        default:
            guard let account = request.account else { return }
            switch request.password {
            case .some(let password) where !password.isEmpty: try store.store(account: account, password: password)
            default: return
            }
        }
    }
}
