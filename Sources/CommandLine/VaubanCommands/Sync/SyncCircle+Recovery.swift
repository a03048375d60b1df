import VaubanKeychainClient
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// The recovery key of a circle (Specs/sync.md, "Joining by the recovery key").
extension SyncCircle {
    /// Makes a recovery key and passes it to `show`, which calls its second argument once the user sees the key. That has the enclave store
    /// the key, and adds its statement to the folder: not before, since an earlier key is void after that, and at once, since other devices
    /// may change the circle.
    mutating func makeRecoveryKey(show: (borrowing RecoveryKey?, () -> Void) throws -> Void) throws {
        let (client, folder) = (client, folder)
        let entry = try client.withPrompts { try client.keychain.circle(.makeRecoveryKey, waiting: $0).entry }
        guard let bytes = entry.takeSecret(), bytes.count == RecoveryKey.keyBytes else {
            throw Refusal(.internalError, "the enclave made no recovery key")
        }
        let key: RecoveryKey? = RecoveryKey(random: bytes)
        var stored: CircleReply?
        var fault: (any Error)?
        try show(key) {
            do {
                let reply = try client.keychain.circle(.confirmRecoveryKey).reply
                stored = reply
                if let statement = reply.document {
                    try folder.add(statement, named: SyncFolder.name(of: reply.view.number), in: .circle)
                }
            } catch {
                fault = error
            }
        }
        if let stored { take(stored.view) }
        guard let fault else { return }
        guard let stored else {
            say("The new recovery key may not work. Keep an earlier one, and make another: vauban sync recovery --make")
            throw fault
        }
        if let other = try? folder.read(SyncFolder.name(of: view.number), in: .circle), other != stored.document {
            say("The new recovery key does not work: another device changed the circle at the same time.")
        } else {
            say("The folder does not have the new recovery key yet. It works after the next vauban sync; keep an earlier one until then.")
        }
        throw fault
    }
}

/// A new device that joins the circle of a folder by its recovery key.
struct RecoveryJoining {
    let client: ServiceClient
    let home: SyncHome
    let place: any SyncCarrier

    /// Joins the circle. Returns this device's session in it.
    func join(with key: borrowing RecoveryKey, name: String) throws -> SyncCircle {
        let secret: SecretBytes? = key.bytes()
        guard var view = try found(by: secret) else {
            throw Refusal(
                .badParameter,
                "No circle in the folder has this recovery key: it is another key, or the folder is not copied completely")
        }
        while let statement = try place.read(SyncFolder.name(of: view.number + 1), in: .circle) {
            view = try client.keychain.circle(.followByRecoveryKey(statement: statement)).reply.view
        }
        let last = view
        home.forget()
        try home.keep(place)
        let reply = try client.withPrompts { try client.keychain.circle(.enterByRecoveryKey(name: name), waiting: $0).reply }
        if let statement = reply.document { try place.add(statement, named: SyncFolder.name(of: last.number + 1), in: .circle) }
        var circle = try SyncCircle(client, home)
        try circle.follow()
        say(
            """
            Joined by the recovery key, which is void now. This device shares synchronizable items with \
            \(count(circle.view.members.count - 1, "device")). Remove those that are lost: vauban sync remove. To make another recovery \
            key: vauban sync recovery --make
            """)
        return circle
    }

    /// Returns the circle as of the statement that made the key; nil if no statement did.
    private func found(by key: borrowing SecretBytes?) throws -> CircleView? {
        for name in try place.names(in: .circle).filter({ SyncFolder.number(of: $0) != nil }).reversed() {
            guard let statement = try place.read(name, in: .circle), (1...CircleRequest.documentBytesMax).contains(statement.count) else {
                continue
            }
            do throws(Refusal) {
                return try client.keychain.findCircle(by: statement, recoveryKey: key).view
            } catch {
                // Skip it: whoever carries the folder may have put something else there.
                guard [.itemNotFound, .unsupported, .badParameter].contains(error.reason) else { throw error }
            }
        }
        return nil
    }
}
