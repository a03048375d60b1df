import Crypto
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// The error that this device is in no circle and waits to join none, so that the command has nothing to work with.
struct NoCircle: Error, CustomStringConvertible {
    let description: String
}

/// This device in its circle: the enclave has the circle's keys and state, and the folder its statements.
struct SyncCircle {
    let client: ServiceClient
    let home: SyncHome
    let folder: any SyncCarrier
    /// Whether the user has just named this folder, so that an earlier or another one is accepted.
    private let isNamed: Bool
    /// Whether it is another place than before, so that it may be the wrong one.
    private let isMoved: Bool
    private(set) var view: CircleView

    /// Finds this device's circle, or its request to join one.
    /// - Parameters:
    ///   - folder: The folder, if it was moved.
    ///   - known: The remembered folder, if it is already open.
    init(_ client: ServiceClient, _ home: SyncHome, at folder: (any SyncCarrier)? = nil, known: (any SyncCarrier)? = nil) throws {
        self.client = client
        self.home = home
        view = try Self.view(client)
        isNamed = folder != nil
        isMoved = try folder.map { try $0.place != home.place } ?? false
        guard let folder = try folder ?? known ?? home.folder else {
            throw Refusal(.badParameter, "The folder of this device's circle is no longer known; run: vauban sync --folder FOLDER")
        }
        self.folder = folder
    }

    /// Returns the circle, or the request to join one, as the enclave has it.
    ///
    /// - Throws: `NoCircle` if there is none.
    static func view(_ client: ServiceClient) throws -> CircleView {
        do throws(Refusal) {
            return try client.keychain.circle(.view).reply.view
        } catch {
            // For this request, the enclave uses this reason only if the device has neither a circle nor a request to join one.
            guard error.reason == .notAllowedHere else { throw error }
            throw NoCircle(description: error.message)
        }
    }

    /// Performs a request. When this returns, the enclave has stored the outcome.
    @discardableResult
    mutating func perform(_ request: CircleRequest) throws -> CircleReply {
        let client = client
        let reply =
            request.mayWaitForUser
            ? try client.withPrompts { try client.keychain.circle(request, waiting: $0).reply } : try client.keychain.circle(request).reply
        view = reply.view
        return reply
    }

    /// Takes the view of the circle from a reply.
    mutating func take(_ view: CircleView) { self.view = view }

    /// Performs a request that changes the circle, and adds the statement to the folder. If adding fails, `follow` does it later.
    @discardableResult
    mutating func change(_ request: CircleRequest) throws -> CircleReply {
        let reply = try perform(request)
        if let statement = reply.document { try folder.add(statement, named: SyncFolder.name(of: view.number), in: .circle) }
        return reply
    }

    /// Admits a companion with the items of these rows, or changes its list by them, and adds the statement to the folder.
    @discardableResult
    mutating func change(_ change: SyncRequest.CompanionChange, rows: [Int64]) throws -> CircleReply {
        let client = client
        let reply = try client.withPrompts { try client.keychain.changeCompanion(change, rows: rows, waiting: $0) }
        view = reply.view
        if let statement = reply.document { try folder.add(statement, named: SyncFolder.name(of: view.number), in: .circle) }
        return reply
    }

    /// Throws if this device is a companion.
    func requireMember() throws(Refusal) {
        guard !view.isCompanion else {
            throw Refusal(
                .notAllowedHere, "This device is a companion: it receives items and changes nothing; run this on a member of the circle")
        }
    }

    /// Follows the statements of other members. Throws if the last followed statement is missing in the folder, or differs.
    mutating func follow() throws {
        guard view.circle != nil else {
            throw Refusal(.notAllowedHere, "This device still waits to join; run vauban sync join again")
        }
        let revision = try acceptedRevision()
        let name = SyncFolder.name(of: view.number)
        if !isMoved, let own = try perform(.view).document, try folder.read(name, in: .circle) == nil {
            try folder.add(own, named: name, in: .circle)
        }
        guard let known = try folder.read(name, in: .circle), Array(SHA256.hash(data: known)) == view.digest else {
            throw Refusal(
                .badParameter,
                "The folder lacks circle/\(name), or has another: it was put back to an earlier state or altered, or is not copied "
                    + "completely. \(folder.remedyForMissingFiles); if that does not help, run vauban sync leave, then join again")
        }
        while view.number < CircleRequest.numberMax, let next = try folder.read(SyncFolder.name(of: view.number + 1), in: .circle) {
            let before = view
            let number = SyncFolder.name(of: view.number + 1)
            do {
                guard next.count <= CircleRequest.documentBytesMax else { throw Refusal(.badParameter, "The statement is too long") }
                try perform(.follow(statement: next))
            } catch let refusal as Refusal where refusal.reason == .badParameter {
                throw Refusal(
                    .badParameter,
                    "The folder's circle/\(number) is refused. \(refusal.message). "
                        + "If none of your devices wrote it, \(folder.remedyForForeignFile(number, in: .circle))")
            }
            report(since: before)
        }
        if let revision, try home.revision != revision { try home.keepRevision(revision) }
    }

    /// Returns the carrier's revision; nil if it has none. Throws if the carrier was put back to an earlier state, or is another one,
    /// unless the user has just named it.
    private mutating func acceptedRevision() throws -> CarrierRevision? {
        guard let revision = try folder.revision() else { return nil }
        guard !isNamed, let known = try home.revision, let setback = revision.setback(since: known) else { return revision }
        let what =
            switch setback {
            case .otherStore: "The folder is in another etcd than before: it was set up again, or another one answers in its place"
            case .earlier: "etcd was put back to an earlier state: an older copy was restored, or it was tampered with"
            }
        let last = try folder.read(SyncFolder.name(of: view.number), in: .circle)
        // Without the last statement, naming the folder again does not help: the circle cannot be followed from there.
        let canGoOn = if let last { Array(SHA256.hash(data: last)) == view.digest } else { try perform(.view).document != nil }
        let way =
            canGoOn
            ? "If its operator meant to do this, vauban sync --folder \(SafeText.visible(folder.place)) goes on with what is there"
            : "It lacks the last change of the circle: ask its operator to restore a newer copy; if there is none, run vauban sync leave, "
                + "then join again"
        throw Refusal(.badParameter, "\(what). Nothing was synchronized. \(way)")
    }

    /// Keeps the carrier's revision once more, so that what this device wrote counts. If that fails, the next run does it.
    func noteRevision() {
        guard let known = try? home.revision, let revision = try? folder.revision(), revision != known,
            revision.setback(since: known) == nil
        else { return }
        try? home.keepRevision(revision)
    }

    private func report(since before: CircleView) {
        for member in view.members where !before.members.contains(member) {
            let isRecovered = view.recovered.contains(member.device)
            say("\(SafeText.visible(member.name)) joined the circle\(isRecovered ? " by the recovery key, which is void now" : "").")
        }
        for member in before.members where !view.members.contains(member) {
            say("\(SafeText.visible(member.name)) was removed from the circle.")
        }
        let isByRecovery = view.recovered.count > before.recovered.count
        if view.hasRecoveryKey, !before.hasRecoveryKey { say("The circle has a recovery key now.") }
        if !view.hasRecoveryKey, before.hasRecoveryKey, !isByRecovery { say("The recovery key of the circle was removed.") }
        for companion in view.companions {
            let name = SafeText.visible(companion.device.name)
            let known = before.companions.first { $0.device == companion.device }
            if known == nil { say("\(name) joined the circle as a companion.") }
            if let known, known.names != companion.names { say("The list of the companion \(name) was changed.") }
        }
        for companion in before.companions where !view.companions.contains(where: { $0.device == companion.device }) {
            say("The companion \(SafeText.visible(companion.device.name)) was removed from the circle.")
        }
    }

    /// Opens the circle on the keychain's connection. Returns the ciphers of the files, by epoch, and of the state.
    func open() throws -> (files: [FrameCipher], state: FrameCipher) {
        let ciphers = try ciphers(.open) { Int($0.epoch) + 1 }
        guard let state = ciphers.last else { throw Refusal(.internalError) }
        return (Array(ciphers.dropLast()), state)
    }

    /// Returns the ciphers of the files for a companion, by epoch.
    func companionFiles(_ device: [UInt8]) throws -> [FrameCipher] { try ciphers(.companionFiles(device: device)) { Int($0.epoch) } }

    private func ciphers(_ request: CircleRequest, count: (CircleView) -> Int) throws -> [FrameCipher] {
        let (reply, entry) = try client.keychain.circle(request)
        let count = count(reply.view)
        guard let keys = entry.takeSecret(), keys.count == count * Self.keyBytes else {
            throw Refusal(.internalError, "the enclave returned no keys of the circle")
        }
        return (0..<count).map { FrameCipher(keys.part($0 * Self.keyBytes..<($0 + 1) * Self.keyBytes)) }
    }

    func sign(_ digest: [UInt8]) throws -> [UInt8] {
        guard let signature = try client.keychain.circle(.sign(digest: digest)).reply.document,
            signature.count == CircleRequest.signatureBytes
        else { throw Refusal(.internalError, "the enclave signed nothing") }
        return signature
    }

    /// Returns the enclave's key card, and a signature of the card and a digest.
    func signKeyCard(with digest: [UInt8]) throws -> (card: [UInt8], signature: [UInt8]) {
        guard let document = try client.keychain.circle(.signKeyCard(with: digest)).reply.document,
            document.count == Self.keyBytes + CircleRequest.signatureBytes
        else { throw Refusal(.internalError, "the enclave signed nothing") }
        return (Array(document.prefix(Self.keyBytes)), Array(document.dropFirst(Self.keyBytes)))
    }

    /// Returns the one member or companion with this name, or whose identifier begins with this text.
    func device(_ text: String) throws(Refusal) -> CircleMember {
        try one(text, of: view.members + view.companions.map(\.device), "device")
    }

    func companion(_ text: String) throws(Refusal) -> CircleMember { try one(text, of: view.companions.map(\.device), "companion") }

    private func one(_ text: String, of devices: [CircleMember], _ kind: String) throws(Refusal) -> CircleMember {
        let found = devices.filter { $0.name == text || (text.count >= 4 && StoredBackupFolder.hex($0.device).hasPrefix(text)) }
        guard let device = found.first else {
            throw Refusal(.badParameter, "No \(kind) \(SafeText.visible(text)) in the circle; vauban sync status lists them")
        }
        guard found.count == 1 else {
            throw Refusal(.badParameter, "More than one \(kind) is called \(SafeText.visible(text)); use the beginning of its identifier")
        }
        return device
    }

    /// Returns the rows of the synchronizable items with these names.
    func rows(called names: [String]) throws -> [Int64] {
        _ = try open()
        guard !names.isEmpty else { return [] }
        let all = try client.keychain.syncRows().rows
        return try names.flatMap { name in
            let found = all.filter { $0.shownName == name }
            guard !found.isEmpty else {
                throw Refusal(.itemNotFound, "No synchronizable item \(SafeText.visible(name)); only such items go to a companion")
            }
            guard found.allSatisfy({ $0.name != nil }) else {
                throw Refusal(.notAllowedHere, "The item \(SafeText.visible(name)) stays on this device")
            }
            return found.map(\.row)
        }
    }

    private static let keyBytes = 32
}
