import ArgumentParser
import Foundation
import VaubanAuthenticationClient
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct Finger: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Enrols fingers at the fingerprint reader, lists or deletes them.",
        subcommands: [FingerEnroll.self, FingerList.self, FingerDelete.self])

    /// The passcode of now, where there is a reader that could use it.
    static func passcode(of session: Session) throws -> SecretBytes {
        let device = try session.authentication.status().device
        try Passcode.requireSet(device)
        guard device.biometry.readerIsThere else { throw Refusal(.biometryNotAvailable, "there is no fingerprint reader") }
        return try Passcode.current(of: session)
    }

    /// "right-index-finger" as a user says it.
    static func words(_ name: String) -> String { SafeText.visible(String(name.map { $0 == "-" ? " " : $0 })) }
}

struct FingerEnroll: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Has the reader learn a finger. Fingers that it knew of you before count too.",
        discussion: """
            Items that ask for you then take the passcode or a finger. With --unlock a finger also opens the keychain after it \
            was locked, but never before the first passcode after a start. Without it, it does not, also where it did before.

            Example:
              vauban finger enroll
              vauban finger enroll --unlock
            """)

    @Flag(help: "From now on a finger also unlocks the keychain, after the first unlock.")
    var unlock = false

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let passcode = try Finger.passcode(of: session)
        let progress = FingerProgress()
        try session.authentication.enrol(passcode, unlocks: unlock) { progress.show($0) }
        say(
            "The finger is learnt. Yours are now: \(try session.authentication.fingers(passcode).map(Finger.words).joined(separator: ", "))"
        )
    }
}

struct FingerList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Names the fingers that the reader knows of you.",
        discussion: """
            The names are only labels: nobody checks which finger it was.

            Example:
              vauban finger list
            """)

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let passcode = try Finger.passcode(of: session)
        let fingers = try session.authentication.fingers(passcode)
        if fingers.isEmpty { say("The reader knows no finger of yours.") }
        for finger in fingers { print(Finger.words(finger)) }
    }
}

struct FingerDelete: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes all your fingers, at the reader too.",
        discussion: """
            From then on only the passcode answers. What asks for a finger of the present set can never be opened again.

            Example:
              vauban finger delete
            """)

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let passcode = try Finger.passcode(of: session)
        let progress = FingerProgress()
        try session.authentication.forgetFingers(passcode) { progress.show($0) }
        say("Your fingers are deleted.")
    }
}

/// What the reader says while a finger is learnt, a line each.
private final class FingerProgress {
    private var last = ""

    func show(_ place: String) {
        // The first word is the place alone; behind it stands how it goes.
        guard let colon = place.range(of: ": "), place != last else { return }
        last = place
        let text = SafeText.visible(String(place[colon.upperBound...]))
        say(text.prefix(1).uppercased() + text.dropFirst() + ".")
    }
}
