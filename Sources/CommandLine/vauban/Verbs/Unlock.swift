import ArgumentParser
import VaubanAccessPolicy
import VaubanAuthenticationClient

struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Unlocks the keychain, with your passcode or a finger.",
        discussion: """
            Where you chose at enrolment that a finger unlocks, it takes one after the first unlock; Return takes the \
            passcode instead. A passcode that is sent along is tried once.

            Example:
              vauban unlock
              vauban unlock --passcode-fd 3 3<passcode-file
            """)

    @OptionGroup var person: PersonOptions

    func run() throws {
        let session = try Session(person)
        let device = try session.authentication.status().device
        guard device.passcodeIsSet else { throw Refusal(.passcodeNotSet, "there is nothing to unlock") }
        if session.person.hasPreparedPasscode {
            let passcode = try session.person.preparedPasscode()
            try session.authentication.unlock(passcode)
        } else if device.lock == .unlocked {
            say("Unlocked already.")
            return Rewrapping(session).runSilently()
        } else if let terminal = session.person.terminal {
            try session.unlock(on: terminal)
        } else {
            throw Refusal(.interactionNotAllowed, "there is no terminal to ask on; send the passcode along: --passcode-fd N")
        }
        say("Unlocked.")
        // Goes on with what `passcode change --roll` began: now the keys are there.
        Rewrapping(session).runSilently()
    }
}
