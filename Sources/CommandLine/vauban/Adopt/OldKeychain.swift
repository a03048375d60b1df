import Foundation
import Glibc
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanSecretBytes

/// The person's own keychain of user mode, beside the installed one. Nothing in it is changed until it is deleted.
final class OldKeychain {
    let home: String
    let folder: PrivateFolder
    let session: Session
    /// For this process until it ends: two that delete would be one too many.
    private let turn: Descriptor

    init(_ own: OwnKeychain, _ person: Person) throws {
        home = own.home
        folder = try PrivateFolder(path: own.home, creating: false)
        guard let turn = try folder.lock("adopting.lock") else { throw Refusal(.unavailable, "another vauban adopt is at work") }
        self.turn = turn
        let service = Service.own(.user(home: own.home), home: own.home, .ofThisProcess)
        session = Session(person, service, name: "The old keychain")
    }

    /// Starts its rooms. However this command ends, short of being killed, they end with it: with the service installed
    /// nothing else uses them, and what was opened here should not stay open.
    func start() throws {
        // A launcher that is gone since is replaced by the installed one.
        try ServiceAccess.make(home: home)
        let home = home
        _ = Interruption.add { _ = try? LauncherControl.stop(home: home) }
        if !LauncherControl.isRunning(home: home), try !ServiceStarter.start(session.service) {
            throw Refusal(.unavailable, "the rooms of the old keychain did not start; \(SafeText.visible(home))/vauban.log says why")
        }
    }

    func hasPasscode() throws -> Bool { try session.authentication.status().device.passcodeIsSet }

    func open() throws {
        do {
            try session.openNow()
        } catch let refusal as Refusal {
            throw named(refusal)
        }
    }

    func close() throws { _ = try LauncherControl.stop(home: home) }

    /// A refusal of this keychain, which the person must not take for one of the other.
    private func named(_ refusal: Refusal) -> Refusal {
        let what: String? =
            switch refusal.reason {
            case .locked, .beforeFirstUnlock: "the old one; to send its passcode along, run: vauban adopt --source-passcode-fd N"
            case .authenticationFailed, .lockedOut: "the old keychain's passcode"
            case .stateUnreadable: "of the old keychain, so nothing was moved. \(refusal.detail ?? "")"
            default: nil
            }
        guard let what else { return refusal }
        return Refusal(refusal.reason, what, triesLeft: refusal.triesLeft, secondsToWait: refusal.secondsToWait)
    }

    /// Every item of every group, without its secret.
    func records() throws -> [ItemRecord] {
        do {
            return try session.opening { try ItemKind.allCases.flatMap { try records(of: $0) } }
        } catch let refusal as Refusal {
            throw named(refusal)
        }
    }

    private func records(of kind: ItemKind) throws -> [ItemRecord] {
        var query = ItemQuery(kind: kind)
        query.includesSynchronizable = true
        query.limit = .all
        query.returnsAttributes = true
        query.authenticationUI = .describe
        do throws(Refusal) {
            return try session.keychain.copyMatching(query).compactMap(\.record)
        } catch {
            guard error.reason == .itemNotFound else { throw error }
            return []
        }
    }

    // MARK: The end

    /// Destroys its keys, so that what a disk keeps of removed files opens no more, and then removes the folder. A kill in
    /// between leaves an empty keychain, which can be deleted the same way, or a folder that counts as none.
    func delete() throws {
        try start()
        try erase()
        try close()
        try Self.removeRemains(of: home)
        let aside = Self.aside(home)
        guard rename(home, aside) == 0 else { throw Self.notRemoved(home) }
        try Self.removeRemains(of: home)
    }

    /// What a deletion was killed at: its keys are gone already.
    static func removeRemains(of home: String) throws {
        let aside = aside(home)
        guard access(aside, F_OK) == 0 else { return }
        do { try FileManager.default.removeItem(atPath: aside) } catch { throw notRemoved(aside) }
    }

    private static func aside(_ home: String) -> String { "\(home).deleted" }

    private static func notRemoved(_ path: String) -> Refusal {
        Refusal(.storageFailed, "the old keychain's keys are destroyed, but \(SafeText.visible(path)) could not be removed; remove it by hand")
    }

    private func erase() throws {
        let client = session.authentication
        guard try hasPasscode() else { return try client.erase(nil) }
        if session.person.hasPreparedPasscode {
            let passcode: SecretBytes? = try session.person.preparedPasscode()
            do throws(Refusal) { return try client.erase(passcode) } catch { throw named(error) }
        }
        guard let terminal = session.person.terminal else { throw named(Refusal(.locked)) }
        for attempt in 1...Session.triesMax {
            let passcode: SecretBytes? = try PasscodeInput.ask("The old keychain's passcode, to delete it (\(PromptText.cancelHint)): ", on: terminal)
            do throws(Refusal) {
                return try client.erase(passcode)
            } catch {
                guard error.reason == .authenticationFailed, attempt < Session.triesMax, error.triesLeft != 0 else { throw named(error) }
                terminal.write("That was not the passcode\(error.triesLeft.map { "; \(PromptText.tries($0))" } ?? "").\n")
            }
        }
    }
}
