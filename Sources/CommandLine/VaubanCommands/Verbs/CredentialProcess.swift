import ArgumentParser
import VaubanKeychainClient
import VaubanRefusal

struct CredentialProcess: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential-process",
        abstract: "Print an access key for AWS's programs; run by them.",
        discussion: """
            The item's account is the access key ID, and its secret is the secret access key. A secret in JSON, as aws sts prints it, \
            can also contain a session token and an expiration; an expired one is refused.

            Example:
              vauban set aws/AKIAIOSFODNN7EXAMPLE
              credential_process = vauban credential-process aws    in ~/.aws/config, below [default]
              aws sts get-session-token | vauban set aws-session/anna --replace
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func validate() throws { try selection.requireSomething() }

    func run() throws {
        let client = try ServiceClient(user)
        try client.withSuggestions(selection) {
            let record = try client.one(selection, for: "credential-process")
            let entry = try client.read(record, reason: "use the access key \(SafeText.line(record.name, max: 150)) with AWS")
            guard let secret = entry.takeSecret() else {
                throw Refusal(.itemNotFound, "\(record.name) has no secret; to store one: vauban update \(selection.quoted)")
            }
            try AWSCredential(record, secret).write()
        }
    }
}
