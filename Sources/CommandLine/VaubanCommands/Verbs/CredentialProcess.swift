import ArgumentParser
import VaubanKeychainClient
import VaubanRefusal

struct CredentialProcess: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential-process",
        abstract: "Gives AWS's programs an access key; they run this.",
        discussion: """
            The item's account is the access key id and its value the secret access key. A value of JSON, as aws sts prints it, can have a \
            session token and an expiration besides; an expired one is refused.

            Example:
              vauban set aws/AKIAIOSFODNN7EXAMPLE
              credential_process = vauban credential-process aws    in ~/.aws/config, below [default]
              aws sts get-session-token | vauban set aws-session/anna --replace
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        try session.suggesting(selection) {
            let record = try session.one(selection, for: "credential-process")
            let entry = try session.read(record, reason: "use the access key \(SafeText.line(record.name, max: 150)) with AWS")
            guard let secret = entry.takeSecret() else { throw Refusal(.itemNotFound, "the item has no secret") }
            try AWSCredential(record, secret).write()
        }
    }
}
