import VaubanKeychainClient
import VaubanRefusal
import VaubanSyncModel

/// Joining by a token, without a code (Specs/sync.md, "Joining by a token").
extension SyncCircle {
    /// Admits, as companions, the devices that ask to join by a token of this device. Invalid files from the carrier do not stop the run.
    mutating func admitByTokens() throws {
        guard !view.isCompanion else { return }
        var answered = 0
        for device in try JoinFile.request.devices(in: folder).prefix(Self.requestsReadMax) where answered < Self.requestsMax {
            let before = view
            let reply: CircleReply
            do throws(Refusal) {
                reply = try admission(of: device)
            } catch {
                // The token is another member's, which answers itself.
                if error.reason == .itemNotFound { continue }
                answered += 1
                guard [.badParameter, .notAllowedHere, .unsupported, .unavailable].contains(error.reason) else { throw error }
                refuse(device, error)
                continue
            }
            answered += 1
            take(reply.view)
            if let statement = reply.document { try folder.add(statement, named: SyncFolder.name(of: view.number), in: .circle) }
            for companion in view.companions where !before.companions.contains(where: { $0.device == companion.device }) {
                say("Admitted \(SafeText.visible(companion.device.name)) as a companion, by its token.")
            }
            for file in [JoinFile.request, .refusal] { folder.remove(file.name(of: device), in: .join) }
        }
    }

    private func admission(of device: String) throws(Refusal) -> CircleReply {
        guard let request = try folder.read(JoinFile.request.name(of: device), in: .join),
            (1...CircleRequest.documentBytesMax).contains(request.count)
        else { throw Refusal(.badParameter, "Its request is incomplete in the folder, or was altered") }
        return try client.keychain.circle(.admitByToken(request: request)).reply
    }

    /// Reports why a device is not admitted, here and in a file for that device.
    private func refuse(_ device: String, _ refusal: Refusal) {
        say("The device \(device.prefix(8)) asks to join by a token, and is not admitted. \(refusal.message).")
        if let told = JoinRefusal(refusal.reason) {
            // If this cannot be written, the device just keeps waiting.
            try? told.write(for: device, in: folder)
        }
        if [.notAllowedHere, .badParameter].contains(refusal.reason) {
            folder.remove(JoinFile.request.name(of: device), in: .join)
        }
    }

    /// Follows the circle's statements, or enters the circle of the token that this device redeemed. Returns why this device still has to
    /// wait; nil if it does not.
    mutating func enterOrFollow() throws -> Refusal? {
        if let sponsor = view.sponsor, try !enterByToken() {
            return Refusal(.unavailable, "This device waits until \(SafeText.visible(sponsor.name)) has run vauban sync; then try again")
        }
        try follow()
        return nil
    }

    /// Enters the circle of the token that this device redeemed. Returns false as long as the member that made the token has not admitted
    /// it.
    mutating func enterByToken() throws -> Bool {
        guard !(try enter { .enterByToken(statement: $0) }) else { return true }
        let told = try JoinRefusal.read(for: view.device, in: folder)
        if let told, told.isFinal { throw told.refusal }
        let name = JoinFile.request.name(of: view.device)
        // The request may be missing or incomplete in the folder.
        if let request = try perform(.view).document, try folder.read(name, in: .join) == nil {
            try folder.replace(request, named: name, in: .join)
        }
        guard let told else { return false }
        if told == .request { folder.remove(JoinFile.refusal.name(of: view.device), in: .join) }
        throw told.refusal
    }

    /// Enters the circle by the newest statement that admits this device. Returns false if there is none.
    mutating func enter(_ request: ([UInt8]) -> CircleRequest) throws -> Bool {
        for name in try folder.names(in: .circle).filter({ SyncFolder.number(of: $0) != nil }).reversed() {
            guard let statement = try folder.read(name, in: .circle), (1...CircleRequest.documentBytesMax).contains(statement.count) else {
                continue
            }
            do {
                try perform(request(statement))
            } catch let refusal as Refusal where refusal.reason == .badParameter || refusal.reason == .notAllowedHere {
                continue
            }
            JoinFile.removeAll(of: StoredBackupFolder.hex(view.device), in: folder)
            if view.isCompanion {
                say("Joined as a companion. This device receives the items of its list, and sends nothing.")
            } else {
                say("Joined. This device now shares synchronizable items with \(count(view.members.count - 1, "device")).")
            }
            return true
        }
        return false
    }

    /// The most requests that one run answers, and the most that it reads, since some are by tokens of other members.
    private static let requestsMax = 16
    private static let requestsReadMax = 256
}
