import ArgumentParser
import Glibc
import VaubanSecretBytes

struct GitCredential: ParsableCommand {
    /// Usage and errors show the name under which git calls the program.
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: VaubanTool.calledName == programName ? programName : "git-credential",
            abstract: "Store git's credentials; run by git.",
            discussion: """
                Reads a credential description on standard input, as defined in gitcredentials(7). The items are server passwords with \
                server, protocol, account, and the path if git sends one.

                Example:
                  git config --global credential.helper vauban
                  vauban set --server example.com --account anna --protocol https
                """)
    }

    /// The name under which git finds the program for `credential.helper = vauban`.
    static let programName = "git-credential-vauban"
    static var _errorPrefix: String { VaubanCommand._errorPrefix }

    @Argument(help: ArgumentHelp("The operation: get, store or erase. Others are ignored.", valueName: "operation"))
    var operation: String

    @OptionGroup var user: UserOptions

    func run() throws {
        guard ["get", "store", "erase"].contains(operation) else { return }
        let request = try GitCredentialRequest.read(from: STDIN_FILENO)
        guard let place = request.place else { return }
        let store = GitCredentialStore(try ServiceClient(user), place)
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
