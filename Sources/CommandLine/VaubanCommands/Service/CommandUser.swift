import ArgumentParser
import Glibc
import Synchronization
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// How the user can be asked, as the options say.
struct UserOptions: ParsableArguments {
    @Flag(help: "Ask nothing: refuse where a passcode or a secret would be asked for.")
    var noInput = false

    @Option(
        name: .customLong("passcode-fd"),
        help: ArgumentHelp("Read the passcode, one line, from this file descriptor; it is tried once.", valueName: "n"))
    var passcodeDescriptor: Int32?
}

/// The user behind this command: their terminal, or the passcode that they sent along.
final class CommandUser: Sendable {
    let mayBeAsked: Bool
    private let passcodeDescriptor: Int32?
    private let prepared = Mutex<Prepared>(.unread)

    private enum Prepared: Sendable {
        case unread
        case read(Keeper)
    }

    init(_ options: UserOptions) {
        mayBeAsked = !options.noInput
        passcodeDescriptor = options.passcodeDescriptor
    }

    /// For a verb that takes no passcode, or another one.
    init(mayBeAsked: Bool, passcodeDescriptor: Int32? = nil) {
        self.mayBeAsked = mayBeAsked
        self.passcodeDescriptor = passcodeDescriptor
    }

    /// With a passcode that was typed already.
    init(mayBeAsked: Bool, passcode: consuming SecretBytes) {
        self.mayBeAsked = mayBeAsked
        passcodeDescriptor = nil
        let keeper = Keeper(passcode)
        prepared.withLock { $0 = .read(keeper) }
    }

    /// The terminal to ask on; nil when there is none, when this is a background job, or when asking is not wanted.
    var terminal: Terminal? { mayBeAsked ? Terminal.inForeground() : nil }

    var hasPreparedPasscode: Bool {
        passcodeDescriptor != nil || prepared.withLock { if case .read = $0 { true } else { false } }
    }

    /// The passcode that came on a descriptor. One command may need it twice, to open the keychain and for an item that
    /// asks; a wrong one ends the command before it is used again.
    func preparedPasscode() throws -> SecretBytes {
        let keeper = try prepared.withLock { prepared in
            if case .read(let keeper) = prepared { return keeper }
            guard let passcodeDescriptor else { throw Refusal(.interactionNotAllowed, "no passcode was sent along") }
            let keeper = Keeper(try SecretReader.line(from: passcodeDescriptor, max: SealedPasscode.passcodeBytesMax))
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
