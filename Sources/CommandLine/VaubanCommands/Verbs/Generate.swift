import ArgumentParser
import VaubanSecretBytes
import VaubanUserModel

struct Generate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Generate a password and print it, without storing it.",
        discussion: """
            Prints 20 characters of all classes, or what the options say. Every secret of that form is equally likely; the entropy is \
            printed to standard error. To store a secret without showing it: vauban set NAME --generate.

            --for knows the rules of more than four hundred sites; ~/.config/vauban/password-rules.json adds to them.

            Example:
              vauban generate
              vauban generate --words 6
              vauban generate --for example.com --copy
              vauban generate --rules 'maxlength: 12; required: lower; required: digit; allowed: [-_]'
            """)

    @OptionGroup(title: "Options for generated secrets") var form: PasswordFormOptions

    @Flag(
        name: [.long, .customShort("c")],
        help: "Copy the password instead of printing it; clears the clipboard after 45 seconds.")
    var copy = false

    private static let clearAfterSeconds: Int64 = 45

    func run() throws {
        let plan = try form.plan()
        let holder = copy ? ClipboardHolder(tool: try .here(), seconds: Self.clearAfterSeconds) : nil
        let secret = try plan.make()
        if let holder { try holder.start(with: secret) } else { try SecretOutput.parse([]).write(secret) }
        say("Generated: \(plan.summary).")
        if let holder {
            say("Copied. The clipboard is cleared in \(DurationText.exact(holder.seconds)), unless it has changed by then.")
        }
    }
}
