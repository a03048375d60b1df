import Glibc
import VaubanLinuxHost

/// A keychain of user mode that the user created before the service was installed. The service does not show its items.
struct OwnKeychain {
    let home: String
    /// Whether everything was moved and nothing was written since; the keychain is kept until the user deletes it.
    let isAdopted: Bool

    /// Returns nil if there is no such keychain, or if this command does not use the installed service.
    static func beside(_ service: Service) -> OwnKeychain? {
        guard service.mode == .system, let home = ServiceEnvironment.ofThisProcess.userHome else { return nil }
        var information = stat()
        guard lstat(home, &information) == 0, information.st_uid == geteuid(), isThere("\(home)/\(ServiceFile.name)") else { return nil }
        return OwnKeychain(home: home, isAdopted: AdoptionMarker.exists(in: home))
    }

    /// Whether a file exists; true if that cannot be determined, so that a later step reports why.
    private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno) }

    /// Whether the moved items are in the installed keychain now; it may have been erased, lost, or replaced by that of another machine.
    /// True if that is unknown, for example if it is locked.
    func isAdopted(by client: ServiceClient) -> Bool {
        guard isAdopted, let folder = try? PrivateFolder(path: home, creating: false), let items = AdoptedItems.read(in: folder) else {
            return false
        }
        return items.isEmpty || client.hasAny(of: items.prefix(Self.sampleMax))
    }

    /// The number of items that are looked up before the keychain counts as lost.
    private static let sampleMax = 20

    var mention: String {
        """
        Your user-mode keychain in \(SafeText.visible(home)) is not part of the installed service; to move it, run: vauban adopt
        """
    }

    func status(in client: ServiceClient) -> String {
        isAdopted(by: client)
            ? """
            the user-mode keychain in \(SafeText.visible(home)) still exists, though all its items were moved here; to delete it: \
            vauban adopt --delete-source
            """
            : "the user-mode keychain in \(SafeText.visible(home)) is not part of the installed service; to move it: vauban adopt"
    }
}
