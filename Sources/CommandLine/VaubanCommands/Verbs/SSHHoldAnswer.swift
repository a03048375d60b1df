import ArgumentParser
import VaubanRefusal
import VaubanSSHWire
import VaubanUserModel

struct SSHHoldAnswer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Let your answer to a prompt hold for more signatures.",
        discussion: """
            For keys that were created here and require your presence. After you type your passcode, the same program signs with the \
            key for the same purpose, such as git commits, without a prompt, until the time is over or the keychain locks. Logins always \
            prompt. Without a duration, prints the current one.

            Example:
              vauban ssh hold work 5m
              vauban ssh hold work
              vauban ssh hold work off
            """)

    @Argument(help: "The name of the key.") var name: String
    @Argument(help: ArgumentHelp("How long an answer holds, at most 15m, or off.", valueName: "duration")) var duration: String?
    @OptionGroup var user: UserOptions

    func validate() throws { if let duration { _ = try SSHHolds.hold(duration) } }

    func run() throws {
        let client = try ServiceClient(user)
        let key = try SSHKeyring(client).key(name)
        guard let duration else { return print(key.hold.map { DurationText.exact($0.seconds) } ?? "off") }
        let hold = try SSHHolds.hold(duration)
        if hold != nil { try key.checkAnswersCanHold() }
        try SSHHolds(client).set(hold, of: key.name)
        say(key.sentence(about: hold))
    }
}

extension SSHKeyOfUser {
    /// A sentence about the setting, for the user. The time begins with each answer, so it has no end before one.
    fileprivate func sentence(about hold: SSHHold?) -> String {
        let shown = SafeText.visible(name)
        guard let hold else { return needsApproval ? "Each signature with \(shown) prompts you again." : "No answer for \(shown) holds." }
        return """
            An answer for \(shown) now holds for \(DurationText.exact(hold.seconds)) after you give it, or until the keychain locks. To \
            undo this: vauban ssh hold \(SafeText.word(name)) off
            """
    }

    func checkAnswersCanHold() throws(Refusal) {
        guard isOfEnclave else {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(name)) was imported; an answer can hold only for a key that was created here (vauban ssh rotate)")
        }
        guard needsApproval else {
            throw Refusal(.badParameter, "\(SafeText.visible(name)) requires no approval, so there is no answer that could hold")
        }
    }
}
