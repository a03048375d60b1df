import Glibc
import VaubanLinuxHost

/// A keychain that the user made in user mode, before the service was installed, which does not show it.
struct OwnKeychain {
    let home: String
    /// All of it was moved, and nothing was written to it since: it is kept because nobody has said that it may go.
    let isAdopted: Bool

    /// Nil where there is none, and where this command uses another service than the installed one.
    static func behind(_ service: Service) -> OwnKeychain? {
        guard service.mode == .system, let home = ServiceEnvironment.ofThisProcess.userHome else { return nil }
        var information = stat()
        guard lstat(home, &information) == 0, information.st_uid == geteuid(), isThere("\(home)/\(ServiceFile.name)") else { return nil }
        return OwnKeychain(home: home, isAdopted: AdoptionMarker.stands(in: home))
    }

    /// What cannot be looked at counts as there, so that it is found out why.
    private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno) }

    /// Whether what was moved is in this keychain now: it may have been erased, lost, or be another machine's. True where that
    /// cannot be seen, as in a locked one.
    func isAdopted(by session: Session) -> Bool {
        guard isAdopted, let folder = try? PrivateFolder(path: home, creating: false), let items = AdoptedItems.read(in: folder) else {
            return false
        }
        return items.isEmpty || session.hasAny(of: items.prefix(Self.sampleMax))
    }

    /// So many of the items are looked for before it counts as gone.
    private static let sampleMax = 20

    var mention: String {
        """
        your user-mode keychain in \(SafeText.visible(home)) is not part of the installed service; to move it, run: vauban adopt
        """
    }

    func status(in session: Session) -> String {
        isAdopted(by: session)
            ? """
            the user-mode keychain in \(SafeText.visible(home)) still exists, though all its items were moved here; to delete it: \
            vauban adopt --delete-source
            """
            : "the user-mode keychain in \(SafeText.visible(home)) is not part of the installed service; to move it: vauban adopt"
    }
}
