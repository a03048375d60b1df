import Foundation
import Glibc
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// A keychain of user mode that exists as long as this process. This process creates its folder under an unused name, so it can never be an
/// existing keychain.
final class EphemeralKeychain {
    let folder: String
    private let home: String
    private let guardian: CleanupProcess
    private var agent: PromptAgent?

    init() throws {
        let places: [String] = ["TMPDIR", "XDG_RUNTIME_DIR"].compactMap { (name: String) in getenv(name).map { String(cString: $0) } }
        let place = places.first { $0.hasPrefix("/") } ?? "/tmp"
        var template = Array("\(place)/vauban-ephemeral-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("make a folder in \(SafeText.visible(place))", code: errno) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        home = "\(folder)/keychain"
        // From here on the folder is removed however this process ends.
        do { guardian = try CleanupProcess(folder: folder) } catch {
            rmdir(folder)
            throw error
        }
        do { try ServiceAccess.make(home: home) } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
        // The command inherits this too: the programs that it starts use only this keychain.
        guard setenv("VAUBAN_HOME", home, 1) == 0 else { throw SystemError("set VAUBAN_HOME", code: errno) }
    }

    /// Sets a random passcode, and installs a prompt agent that answers every prompt with it or denies every prompt.
    func bring(_ user: ScriptedUser.Answer) throws {
        let service = Service.own(.named(home: home), home: home, .ofThisProcess)
        let passcode = try Entropy.secret(24)
        let digits = HexSecret.digits(of: passcode)
        try AuthenticationClient(service: service).setPasscode(digits)
        let agent = try PromptAgent.forEveryCaller(
            of: service, place: "vauban ephemeral", surface: ScriptedUser(user, digits))
        let thread = Thread { _ = agent.run() }
        thread.stackSize = 1 << 19
        thread.start()
        self.agent = agent
    }

    /// Stops the keychain's rooms and removes the keychain.
    func end() throws {
        agent?.end()
        _ = try? LauncherControl.stop(home: home)
        do { try FileManager.default.removeItem(atPath: folder) } catch {
            throw Refusal(.unavailable, "\(SafeText.visible(folder)) could not be removed; remove it by hand")
        }
    }
}

/// Waits until this process has ended in any way, then removes its files. It is a shell that reads from a pipe whose other end only this
/// process holds: a kill closes that end as an exit does.
private final class CleanupProcess {
    private let line: Descriptor
    private static let script =
        #"read -r nothing; [ -d "$1" ] || exit 0; VAUBAN_HOME="$1/keychain" "$0" stop >/dev/null 2>&1; rm -rf -- "$1""#

    init(folder: String) throws(SystemError) {
        guard let own = realpath("/proc/self/exe", nil) else { throw SystemError("find this program's own file", code: errno) }
        defer { free(own) }
        let ends = try Pipe.ends()
        line = ends.writing
        let words = ["sh", "-c", Self.script, String(cString: own), folder]
        try ChildCommand.spawn("/bin/sh", words, input: ends.reading.number, inItsOwnSession: true)
    }
}

/// A prompt agent that answers in place of a user, at once and always in the same way.
final class ScriptedUser: PromptSurface {
    enum Answer: String, CaseIterable, Sendable { case yes, no }

    private let answer: Answer
    private let passcode: SecretBytes

    init(_ answer: Answer, _ passcode: borrowing SecretBytes) {
        self.answer = answer
        self.passcode = passcode.duplicate()
    }

    func ask(_ request: PromptRequest, withdrawal: any Withdrawal) -> PromptResponse {
        // An item's application password belongs to its application and is unknown here.
        guard answer == .yes, request.methods.contains(.passcode), request.operation != .applicationPassword, request.attempt == 1,
            request.change?.takesNewSecret != true
        else {
            return .cancelled
        }
        return request.consent == nil ? .passcode(passcode.duplicate()) : .consent(passcode.duplicate(), .once)
    }

    func handleOutcome(_ outcome: PromptOutcome) {}
}
