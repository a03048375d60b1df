import ArgumentParser
import Foundation
import VaubanAuthenticationClient
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct Finger: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "finger",
        abstract: "Enroll, list or delete fingerprints.",
        subcommands: [FingerEnroll.self, FingerList.self, FingerDelete.self])

    /// Prompts for the passcode, if there is a reader. Throws `biometryNotAvailable` otherwise.
    static func passcode(of client: ServiceClient) throws -> SecretBytes {
        let device = try client.authentication.status().device
        try Passcode.requireSet(device)
        guard device.biometry.readerIsPresent else { throw Refusal(.biometryNotAvailable) }
        return try Passcode.current(of: client)
    }

    /// Returns "right-index-finger" as "right index finger".
    static func words(_ name: String) -> String { SafeText.visible(String(name.map { $0 == "-" ? " " : $0 })) }
}

struct FingerEnroll: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Enroll a fingerprint.",
        discussion: """
            Items that need your approval then accept the passcode or a finger. Fingers that the reader already knew count too. With \
            --unlock, a finger also unlocks the keychain after a lock, but never before the first passcode after a start. Without \
            --unlock, fingers stop unlocking it.

            Example:
              vauban finger enroll
              vauban finger enroll --unlock
            """)

    @Flag(help: "Let a finger also unlock the keychain, after the first unlock.")
    var unlock = false

    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let passcode = try Finger.passcode(of: client)
        let progress = FingerProgress()
        try client.authentication.enroll(passcode, unlocks: unlock) { progress.show($0) }
        say(
            "Enrolled. Your fingers: \(try client.authentication.fingers(passcode).map(Finger.words).joined(separator: ", "))"
        )
    }
}

struct FingerList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List your enrolled fingers.",
        discussion: """
            The names are labels only; the reader does not check which finger you use.

            Example:
              vauban finger list
              vauban finger list --json
            """)

    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let passcode = try Finger.passcode(of: client)
        let fingers = try client.authentication.fingers(passcode)
        if description.json { return print(try ItemDescription.json(fingers.map { FingerDocument(name: $0) })) }
        if fingers.isEmpty { say("No fingers are enrolled.") }
        for finger in fingers { print(Finger.words(finger)) }
    }
}

struct FingerDelete: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete all your fingerprints, from the reader too.",
        discussion: """
            Only the passcode approves from then on. Items that require the current set of fingers can never be read again.

            Example:
              vauban finger delete
            """)

    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let passcode = try Finger.passcode(of: client)
        let progress = FingerProgress()
        try client.authentication.forgetFingers(passcode) { progress.show($0) }
        say("Your fingerprints are deleted.")
    }
}

/// Prints what the reader reports during enrollment, one line each.
private final class FingerProgress {
    private var last = ""

    func show(_ place: String) {
        // "READER: HINT"; without a hint there is nothing to show.
        guard let colon = place.range(of: ": "), place != last else { return }
        last = place
        let text = SafeText.visible(String(place[colon.upperBound...]))
        say(text.prefix(1).uppercased() + text.dropFirst() + ".")
    }
}
