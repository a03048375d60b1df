import Foundation
import Glibc
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// One item of the old keychain, without its secret.
struct LegacyItem {
    /// The state of an item, distinct from every other state: each write to an item changes its date.
    struct Stamp: Hashable {
        let identity: [UInt8]
        let changed: Int64
    }

    let record: ItemRecord
    let stamp: Stamp
}

/// The user's own keychain of user mode, which exists besides the installed one. Nothing in it is changed until it is deleted.
final class LegacyKeychain {
    let home: String
    let folder: PrivateFolder
    let client: ServiceClient
    /// A lock that this process holds until it ends, so that only one process deletes the keychain.
    private let turn: Descriptor

    init(_ own: OwnKeychain, _ user: CommandUser) throws {
        home = own.home
        folder = try PrivateFolder(path: own.home, creating: false)
        guard let turn = try folder.lock("adopting.lock") else {
            throw Refusal(.unavailable, "Another vauban adopt is running; wait until it ends")
        }
        self.turn = turn
        let service = Service.own(.user(home: own.home), home: own.home, .ofThisProcess)
        client = ServiceClient(user, service, name: "The old keychain")
    }

    /// Starts the keychain's rooms. They end with this command, unless it is killed: with the service installed nothing else uses them, and
    /// what was unlocked here should not stay unlocked.
    func start() throws {
        // A launcher that was removed since is replaced by the installed one.
        try ServiceAccess.make(home: home)
        let home = home
        _ = Interruption.add { _ = try? LauncherControl.stop(home: home) }
        if !LauncherControl.isRunning(home: home), try !ServiceStarter.start(client.service) {
            throw Refusal(.unavailable, "The old keychain did not start; see \(SafeText.visible(home))/vauban.log")
        }
    }

    func hasPasscode() throws -> Bool { try client.authentication.status().device.passcodeIsSet }

    func open() throws {
        do {
            try client.openNow()
        } catch let refusal as Refusal {
            throw named(refusal)
        }
    }

    func close() throws { _ = try LauncherControl.stop(home: home) }

    /// Adds this keychain's name to a refusal, so that the user does not attribute it to the other keychain.
    private func named(_ refusal: Refusal) -> Refusal {
        let what: String? =
            switch refusal.reason {
            case .locked, .beforeFirstUnlock: "the old one; to give its passcode, run: vauban adopt --source-passcode-fd N"
            case .authenticationFailed, .lockedOut: "the old keychain's passcode"
            case .stateUnreadable: "of the old keychain, so nothing was moved. \(refusal.detail ?? "")"
            default: nil
            }
        guard let what else { return refusal }
        return Refusal(refusal.reason, what, attemptsLeft: refusal.attemptsLeft, secondsToWait: refusal.secondsToWait)
    }

    /// Returns every item of every access group, without its secret.
    func items() throws -> [LegacyItem] {
        do {
            return try client.withUnlock { try ItemKind.allCases.flatMap { try items(of: $0) } }
        } catch let refusal as Refusal {
            throw named(refusal)
        }
    }

    private func items(of kind: ItemKind) throws -> [LegacyItem] {
        try client.described(kind).map { entry in
            guard let record = entry.record, let identity = entry.reference else {
                throw Refusal(.internalError, "the old keychain does not list its items")
            }
            return LegacyItem(record: record, stamp: LegacyItem.Stamp(identity: identity, changed: record.date(.modificationDate)))
        }
    }

    // MARK: Deletion

    /// Deletes the keychain if the new keychain has every item of it in its present state: each must be on the list of moved items, with
    /// its counterpart in the new keychain. Otherwise deletes no item, removes the marker and throws a refusal.
    ///
    /// Erases the keys first, so that remains of removed files on a disk cannot be decrypted, then removes the folder. A kill in between
    /// leaves an empty keychain, which can be deleted in the same way, or a folder that does not count as a keychain.
    func delete(movedTo new: ServiceClient) throws {
        let aside = Self.aside(home)
        try Self.removeRemains(of: home)
        guard access(aside, F_OK) != 0 else {
            throw Refusal(
                .storageFailed,
                "\(SafeText.visible(aside)) is in the way, so nothing was deleted; move it elsewhere")
        }
        guard AdoptionMarker.exists(in: home), let adopted = AdoptedItems.read(in: folder) else {
            throw notMoved("it has changed since")
        }
        try start()
        let hasPasscode = try hasPasscode()
        let passcode: SecretBytes? = hasPasscode ? try passcodeToDelete() : nil
        try new.openNow()
        try check(adopted, in: new)
        do throws(Refusal) { try client.authentication.erase(passcode) } catch { throw named(error) }
        try ErasedMarker.set(in: folder)
        try close()
        guard rename(home, aside) == 0 else { throw Self.notRemoved(home) }
        try Self.removeRemains(of: home)
    }

    private func check(_ adopted: [AdoptedItem], in new: ServiceClient) throws {
        let here = try Set(ItemKind.allCases.flatMap { kind in try new.described(kind).compactMap(\.reference) })
        let moved = Set(adopted.filter { here.contains($0.new) }.map(\.old))
        let missing = try items().filter { !moved.contains($0.stamp) }
        guard let first = missing.first else { return }
        throw notMoved(
            "\(count(missing.count, "item")) of it, such as \(first.record.shownWithOwner), \(missing.count == 1 ? "is" : "are") not here")
    }

    private func notMoved(_ why: String) -> Refusal {
        AdoptionMarker.remove(from: folder)
        return Refusal(.itemNotFound, "The old keychain was not deleted, since \(why); to move it, run: vauban adopt")
    }

    /// Removes what an interrupted deletion left: a folder whose keys were erased. Other folders of this name stay.
    static func removeRemains(of home: String) throws {
        let aside = aside(home)
        guard access(aside, F_OK) == 0 else { return }
        guard let folder = try? PrivateFolder(path: aside, creating: false), ErasedMarker.exists(in: folder) else {
            return say("\(SafeText.visible(aside)) is left in place: it is not the remainder of an earlier deletion.")
        }
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: aside) where name != ErasedMarker.name {
                try FileManager.default.removeItem(atPath: "\(aside)/\(name)")
            }
        } catch {
            throw notRemoved(aside)
        }
        folder.remove(ErasedMarker.name)
        guard rmdir(aside) == 0 else { throw notRemoved(aside) }
    }

    private static func aside(_ home: String) -> String { "\(home).deleted" }

    private static func notRemoved(_ path: String) -> Refusal {
        Refusal(
            .storageFailed,
            "the keys of the old keychain are destroyed, but \(SafeText.visible(path)) could not be removed; remove it by hand")
    }

    /// Returns the passcode that authorizes the deletion, after it has unlocked the keychain.
    private func passcodeToDelete() throws -> SecretBytes {
        let authenticationClient = client.authentication
        if client.user.hasPreparedPasscode {
            let passcode = try client.user.preparedPasscode()
            do throws(Refusal) { try authenticationClient.unlock(passcode) } catch { throw named(error) }
            return passcode
        }
        guard let terminal = client.user.terminal else { throw named(Refusal(.locked)) }
        var attempt = 1
        while true {
            let passcode = try PasscodeInput.ask(
                "Passcode of the old keychain, to delete it (\(TerminalPrompt.cancelHint)): ", on: terminal)
            do throws(Refusal) {
                try authenticationClient.unlock(passcode)
                return passcode
            } catch {
                guard error.reason == .authenticationFailed, attempt < ServiceClient.triesMax, error.attemptsLeft != 0 else {
                    throw named(error)
                }
                terminal.write("\(PromptWords.wrongPasscode(attemptsLeft: error.attemptsLeft))\n")
            }
            attempt += 1
        }
    }
}

extension ServiceClient {
    /// Returns all items of a class with their identities, without secrets. Shows no prompt.
    func described(_ kind: ItemKind) throws -> [ReceivedItem] {
        var query = ItemQuery(kind: kind)
        query.includesSynchronizable = true
        query.limit = .all
        query.returns = [.attributes, .reference]
        query.authenticationUI = .describe
        return try found(query)
    }

    /// Whether any of these items is here; true if that is unknown.
    func hasAny(of items: some Sequence<AdoptedItem>) -> Bool {
        items.contains { item in
            var query = ItemQuery(kind: item.kind)
            query.reference = item.new
            query.includesSynchronizable = true
            query.returns.insert(.attributes)
            query.authenticationUI = .describe
            return (try? !found(query).isEmpty) ?? true
        }
    }
}
