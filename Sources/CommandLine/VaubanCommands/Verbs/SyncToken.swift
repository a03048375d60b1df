import ArgumentParser
import Glibc
import VaubanKeychainClient
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

struct SyncToken: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make a token by which a server joins the circle as a companion.",
        discussion: """
            Needs your approval. The first device that joins with the token before it expires becomes a companion of this name: it \
            receives the items that you name here, and changes nothing for the other devices. You are not asked again. This device \
            alone admits it, at its next vauban sync. The token is a secret: give it to the server as you would a password. Without \
            --file it is written to standard output. vauban sync status lists tokens that were not used yet.

            Example:
              vauban sync token ci --item deploy/token --item db/ci --file token
              vauban sync join ~/Shared/keychain --token-file token   on the server
              vauban sync                                             here, and then on the server
              vauban sync token ci --revoke                           if it is no longer needed
            """)

    @Argument(help: ArgumentHelp("The name that the companion gets.", valueName: "name"))
    var name: String

    @Option(name: .customLong("item"), parsing: .singleValue, help: ArgumentHelp("An item that the companion receives.", valueName: "item"))
    var items: [String] = []

    @Option(help: ArgumentHelp("How long the token can be used, from 1m to 7d (default: 1h).", valueName: "duration"))
    var expires: String?

    @Option(help: ArgumentHelp("The new file for the token.", valueName: "file"), completion: .file())
    var file: String?

    @Flag(help: "Revoke the token of this name.")
    var revoke = false

    @OptionGroup var user: UserOptions

    func validate() throws {
        try SyncArguments.validate(name: name)
        if revoke, !items.isEmpty || expires != nil || file != nil { throw ValidationError("--revoke takes no other arguments") }
        _ = try seconds
    }

    private var seconds: Int64 {
        get throws {
            guard let expires else { return 3600 }
            let seconds = try DurationArgument.seconds(expires, unit: 1, max: JoinToken.seconds.upperBound)
            guard JoinToken.seconds.contains(seconds) else { throw ValidationError("--expires must be at least 1m") }
            return seconds
        }
    }

    func run() throws {
        let client = try ServiceClient(user)
        try client.openNow()
        if revoke { return try revokeToken(client) }
        // Detect a reader of standard output that ends early, so that the token can be revoked.
        signal(SIGPIPE, SIG_IGN)
        var circle = try SyncCircle(client, try SyncHome(client.service))
        try circle.follow()
        try circle.requireMember()
        try circle.requireWholeCircle()
        // The token is written only once, so make sure that its file can be created before making the token.
        let output = try file.map { path in
            guard access(path, F_OK) != 0 else {
                throw Refusal(.badParameter, "\(SafeText.visible(path)) already exists; choose another file")
            }
            return try NewFile(path: path)
        }
        let (rows, seconds) = (try circle.rows(called: items), try seconds)
        let (reply, entry) = try client.withPrompts { waiting in
            try client.keychain.makeToken(name: name, seconds: seconds, rows: rows, waiting: waiting)
        }
        guard let document = reply.document, let seed = entry.takeSecret(), seed.count == JoinToken.seedBytes else {
            throw Refusal(.internalError, "the enclave made no token")
        }
        let token = try JoinTokenText(document, seed: seed)
        do { try write(token, to: output) } catch {
            try? revokeToken(client)
            throw error
        }
        show(token)
    }

    private func write(_ token: borrowing JoinTokenText, to output: NewFile?) throws {
        let text = token.text()
        if let output {
            try output.write(text)
            try output.sync()
            return try output.name(replacing: false)
        }
        fflush(nil)
        guard text.withUnsafeBytes({ writeAll($0, to: STDOUT_FILENO) }) else {
            throw Refusal(.storageFailed, "the token could not be written to standard output; it was revoked")
        }
    }

    private func show(_ token: borrowing JoinTokenText) {
        let items = items.isEmpty ? "no item yet" : CompanionArguments.words(items)
        say(
            """
            This token is a secret. The first device that joins with it until \(StatusText.time(token.content.expires)) becomes the \
            companion \(SafeText.visible(name)), which receives \(items). There: vauban sync join FOLDER --token-file FILE. Then run \
            vauban sync here. To revoke the token: vauban sync token \(SafeText.visible(name)) --revoke
            """)
    }

    /// Revokes the token of this name without using the folder, since whoever has the token may have the folder too.
    private func revokeToken(_ client: ServiceClient) throws {
        let view = try SyncCircle.view(client)
        guard let token = view.tokens.first(where: { $0.name == name }) else {
            throw Refusal(.badParameter, "No token for \(SafeText.visible(name)) that was not used yet; vauban sync status lists them")
        }
        _ = try client.keychain.circle(.revokeToken(verification: token.verification))
        say("Revoked the token. No device can join with it.")
    }
}
