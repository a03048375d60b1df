import ArgumentParser
import Glibc
import Synchronization
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// The options for how the user can be prompted.
struct UserOptions: ParsableArguments {
    @Flag(help: "Never prompt; fail instead.")
    var noInput = false

    @Option(
        name: .customLong("passcode-fd"),
        help: ArgumentHelp("Read the passcode from this file descriptor (one line).", valueName: "n"))
    var passcodeDescriptor: Int32?
}

/// The user of this command: their terminal, or the passcode that came on a descriptor.
final class CommandUser: Sendable {
    let mayBePrompted: Bool
    private let passcodeDescriptor: Int32?
    private let prepared = Mutex<Prepared>(.unread)

    private enum Prepared: Sendable {
        case unread
        case read(Keeper)
    }

    init(_ options: UserOptions) {
        mayBePrompted = !options.noInput
        passcodeDescriptor = options.passcodeDescriptor
    }

    /// Creates a user for a verb that needs no passcode or reads its own.
    init(mayBePrompted: Bool, passcodeDescriptor: Int32? = nil) {
        self.mayBePrompted = mayBePrompted
        self.passcodeDescriptor = passcodeDescriptor
    }

    /// Creates a user whose passcode was typed already.
    init(mayBePrompted: Bool, passcode: consuming SecretBytes) {
        self.mayBePrompted = mayBePrompted
        passcodeDescriptor = nil
        let keeper = Keeper(passcode)
        prepared.withLock { $0 = .read(keeper) }
    }

    /// The terminal for prompts; nil if there is none, if this is a background job, or if prompts are disabled.
    var terminal: Terminal? { mayBePrompted ? Terminal.inForeground() : nil }

    var hasPreparedPasscode: Bool {
        passcodeDescriptor != nil || prepared.withLock { if case .read = $0 { true } else { false } }
    }

    /// Returns the passcode from the descriptor. One command may need it twice, to unlock the keychain and for an item that requires it; a
    /// wrong passcode ends the command before it is used again.
    func preparedPasscode() throws -> SecretBytes {
        let keeper = try prepared.withLock { prepared in
            if case .read(let keeper) = prepared { return keeper }
            guard let passcodeDescriptor else { throw Refusal(.interactionNotAllowed, "No passcode was given; use --passcode-fd N") }
            let keeper = Keeper(try SecretReader.line(from: passcodeDescriptor, max: SealedPasscode.passcodeBytesMax))
            guard !keeper.passcode.isEmpty else {
                throw Refusal(.badParameter, "The passcode on descriptor \(passcodeDescriptor) is empty; no attempt was made")
            }
            prepared = .read(keeper)
            return keeper
        }
        return keeper.passcode.duplicate()
    }

    private final class Keeper: Sendable {
        let passcode: SecretBytes
        init(_ passcode: consuming SecretBytes) { self.passcode = passcode }
    }
}
