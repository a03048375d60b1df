import VaubanRefusal

/// The change of a key for a new one: both sign until every place has the new one, and then the old one is deleted.
struct SSHRotation {
    private let keyring: SSHKeyring
    private let places: SSHPlaces
    private let old: String
    /// What the new key is called until the old one is gone.
    let new: String

    init(_ session: Session, of name: String) {
        keyring = SSHKeyring(session)
        places = SSHPlaces(session)
        old = name
        new = "\(name)-new"
    }

    /// Makes the new key in the enclave; it asks where the old one does.
    func begin(_ protection: ProtectionOptions) throws {
        let keys = try keyring.keys()
        guard let key = keys.first(where: { $0.name == old }) else { throw NoSuchItem(name: old, suggestions: []) }
        guard !keys.contains(where: { $0.name == new }) else {
            throw Refusal(
                .duplicateItem,
                "\(new) is there already; to delete \(old) and give its name to the new key: vauban ssh rotate \(old) --finish")
        }
        var protection = protection
        if protection.require == nil, key.asks { protection.require = .presence }
        try SSHKeyring.check(name: new)
        print(try keyring.make(new, protection).line)
        let known = try places.places(of: old)
        say("\(new) signs beside \(old) from now on. Register the line above where \(old) is registered:")
        for place in known { say("  \(SafeText.visible(place.name))    since \(place.day)") }
        if known.isEmpty { say("  (nothing is recorded; vauban ssh where \(old) --add PLACE records one)") }
        say("Record each: vauban ssh where \(new) --add PLACE. Then: vauban ssh rotate \(old) --finish")
    }

    /// Deletes the old key and gives its name to the new one. What was interrupted goes on where it stopped.
    ///
    /// - Parameter force: Whether the old key goes although the new one is not recorded at each of its places.
    func finish(force: Bool) throws {
        let keys = try keyring.keys()
        guard keys.contains(where: { $0.name == new }) else {
            throw Refusal(.itemNotFound, "no rotation of \(old) has begun; to begin one: vauban ssh rotate \(old)")
        }
        if keys.contains(where: { $0.name == old }) {
            let updated = Set(try places.places(of: new).map(\.name))
            let missing = try places.places(of: old).map(\.name).filter { !updated.contains($0) }
            guard force || missing.isEmpty else {
                for place in missing { say("\(old) is registered at \(SafeText.visible(place)), where \(new) is not recorded.") }
                throw Refusal(.badParameter, "nothing was deleted; record \(new) there (vauban ssh where \(new) --add PLACE), or say --yes")
            }
            try keyring.delete(old)
        }
        try places.rename(new, to: old)
        try keyring.renameEnclaveKey(new, to: old)
        say("The old key is deleted, and the new one is called \(old).")
    }
}
