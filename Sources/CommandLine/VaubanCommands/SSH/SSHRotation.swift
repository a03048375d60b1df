import Glibc
import VaubanRefusal

/// The replacement of a key by a new one: both sign until every place has the new key, then the old key is deleted.
struct SSHRotation {
    private let keyring: SSHKeyring
    private let places: SSHPlaces
    private let holds: SSHHolds
    private let certificates: SSHCertificates
    private let old: String
    /// The name of the new key until the old one is deleted.
    let new: String

    init(_ client: ServiceClient, of name: String) {
        keyring = SSHKeyring(client)
        places = SSHPlaces(client)
        holds = SSHHolds(client)
        certificates = SSHCertificates(client)
        old = name
        new = "\(name)-new"
    }

    /// Creates the new key in the enclave with the old key's authentication requirements, and the time for which an answer holds.
    func begin(_ protection: ProtectionOptions) throws {
        let keys = try keyring.keys()
        guard let key = keys.first(where: { $0.name == old }) else { throw SSHKeyring.noKey(old, among: keys) }
        guard !keys.contains(where: { $0.name == new }) else {
            throw Refusal(
                .duplicateItem,
                "\(new) already exists; to delete \(old) and rename the new key to \(old): vauban ssh rotate \(old) --finish")
        }
        var protection = protection
        if protection.require == nil, key.needsApproval { protection.require = .presence }
        try SSHKeyring.check(name: new)
        let made = try keyring.make(new, protection)
        print(made.line)
        // Print this before the sentences below, even if both go to one file.
        fflush(nil)
        try holds.set(made.needsApproval ? key.hold : nil, of: new)
        let known = try places.places(of: old)
        say("\(new) can now sign too. Register the line above wherever \(old) is registered:")
        for place in known { say("  \(SafeText.visible(place.name))    since \(place.day)") }
        if known.isEmpty { say("  (no place is recorded; to record one: vauban ssh where \(old) --add PLACE)") }
        say("Record each: vauban ssh where \(new) --add PLACE. Then: vauban ssh rotate \(old) --finish")
    }

    /// Deletes the old key and gives its name to the new one. Continues an interrupted call where it stopped.
    ///
    /// - Parameter force: Whether to delete the old key even if the new one is not recorded at each of its places.
    func finish(force: Bool) throws {
        let keys = try keyring.keys()
        guard keys.contains(where: { $0.name == new }) else {
            throw Refusal(.itemNotFound, "No rotation of \(old) is in progress; to start one: vauban ssh rotate \(old)")
        }
        if keys.contains(where: { $0.name == old }) {
            let updated = Set(try places.places(of: new).map(\.name))
            let missing = try places.places(of: old).map(\.name).filter { !updated.contains($0) }
            guard force || missing.isEmpty else {
                for place in missing { say("\(old) is registered at \(SafeText.visible(place)), where \(new) is not recorded.") }
                throw Refusal(.badParameter, "Nothing was deleted; record \(new) there (vauban ssh where \(new) --add PLACE), or use --yes")
            }
            try keyring.delete(old)
        }
        try places.rename(new, to: old)
        try holds.rename(new, to: old)
        try certificates.rename(new, to: old)
        try keyring.renameEnclaveKey(new, to: old)
        say("Deleted the old key. The new key is now named \(old).")
    }
}
