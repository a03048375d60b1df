import ArgumentParser
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

struct SyncRecovery: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "Make or remove the recovery key of the circle.",
        discussion: """
            With the circle's recovery key and the folder, one new device joins without any other device: when all are lost, or none is at \
            hand. Then the key is void, and the other devices are told. The key is shown once; an earlier one stops working. It is not \
            the recovery key of vauban recover, which sets a new passcode on one device. Needs your approval. With --passcode-fd, \
            prints the key to standard output.

            Example:
              vauban sync recovery --make
              vauban sync join ~/Shared/keychain --recovery-key   on a new device
              vauban sync recovery --remove
            """)

    @Flag(help: "Make a recovery key, in place of an earlier one, and show it once.")
    var make = false

    @Flag(help: "Remove the recovery key.")
    var remove = false

    @OptionGroup var user: UserOptions

    func validate() throws {
        if make == remove { throw ValidationError("Use either --make or --remove") }
    }

    func run() throws {
        let client = try ServiceClient(user)
        try client.openNow()
        var circle = try SyncCircle(client, try SyncHome(client.service))
        try circle.follow()
        try circle.requireMember()
        try circle.requireWholeCircle()
        guard make else {
            guard circle.view.hasRecoveryKey else { throw Refusal(.badParameter, "The circle has no recovery key") }
            try circle.change(.endRecoveryKey)
            say("The recovery key of the circle was removed. No device can join with it.")
            return Sync.synchronizeAfterChange(circle)
        }
        // The key is shown only once, so do not make one that cannot be shown.
        guard client.user.hasPreparedPasscode || client.user.terminal != nil else {
            throw Refusal(.interactionNotAllowed, "No terminal to show the recovery key on; use --passcode-fd N")
        }
        try circle.makeRecoveryKey { key, whenShown in
            try NewPasscode.showRecoveryKey(
                key, of: .circle, to: client, onOutput: client.user.hasPreparedPasscode, whenShown: whenShown)
        }
        say("This is the recovery key of the circle. A previous one no longer works.")
        Sync.synchronizeAfterChange(circle)
    }
}
