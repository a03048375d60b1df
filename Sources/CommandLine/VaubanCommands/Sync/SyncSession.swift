import Crypto
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// This device in its circle: its keybag, and the statements that the folder has.
struct SyncSession {
    let session: Session
    let home: SyncHome
    let folder: SyncFolder
    private(set) var keybag: [UInt8]
    private(set) var view: CircleView

    /// Opens what this device keeps of a circle, or of a request to join one.
    init(_ session: Session, _ home: SyncHome) throws {
        self.session = session
        self.home = home
        guard let keybag = try home.keybag else {
            throw Refusal(.notAllowedHere, "This device is in no circle; run: vauban sync new FOLDER, or vauban sync join FOLDER")
        }
        self.keybag = keybag
        folder = try home.folder
        view = try session.keychain.circle(keybag: keybag, .view).reply.view
    }

    /// Performs a request, and stores the keybag that it returns after `publish` has put its document into the folder: what is stored but
    /// not there would be lost, and what is there is followed by the next run.
    @discardableResult
    mutating func perform(_ request: CircleRequest, publish: (CircleReply) throws -> Void = { _ in }) throws -> CircleReply {
        let (keybag, session) = (keybag, session)
        let reply =
            request.mayWaitForUser
            ? try session.asking { try session.keychain.circle(keybag: keybag, request, waiting: $0).reply }
            : try session.keychain.circle(keybag: keybag, request).reply
        try publish(reply)
        if let changed = reply.keybag {
            try home.keep(changed)
            self.keybag = changed
        }
        view = reply.view
        return reply
    }

    /// Follows the statements of other members. Throws if the folder lacks what was there before, or has something else in its place.
    mutating func follow() throws {
        guard view.circle != nil else {
            throw Refusal(.notAllowedHere, "This device still waits to join; run vauban sync join again")
        }
        guard let known = try folder.read(SyncFolder.name(of: view.number), in: .circle), Array(SHA256.hash(data: known)) == view.digest
        else {
            throw Refusal(
                .badParameter,
                "The folder lacks a statement about the circle, or has another: it was rolled back or altered, or is not copied completely"
            )
        }
        while let next = try folder.read(SyncFolder.name(of: view.number + 1), in: .circle) {
            guard next.count <= CircleRequest.documentBytesMax else {
                throw Refusal(.badParameter, "A statement about the circle is too long")
            }
            try perform(.follow(statement: next))
        }
    }

    /// Opens the circle on the keychain's connection. Returns the ciphers of the files, by epoch, and of the state.
    func open() throws -> (files: [FrameCipher], state: FrameCipher) {
        let (reply, entry) = try session.keychain.circle(keybag: keybag, .open)
        let count = Int(reply.view.epoch)
        guard let keys = entry.takeSecret(), keys.count == (count + 1) * Self.keyBytes else {
            throw Refusal(.internalError, "the enclave returned no keys of the circle")
        }
        let ciphers = (0...count).map { FrameCipher(keys.part($0 * Self.keyBytes..<($0 + 1) * Self.keyBytes)) }
        return (Array(ciphers.dropLast()), ciphers[count])
    }

    func sign(_ digest: [UInt8]) throws -> [UInt8] {
        guard let signature = try session.keychain.circle(keybag: keybag, .sign(digest: digest)).reply.document,
            signature.count == CircleRequest.signatureBytes
        else { throw Refusal(.internalError, "the enclave signed nothing") }
        return signature
    }

    /// Returns the one member that a name or the beginning of an identifier means.
    func member(_ text: String) throws(Refusal) -> CircleMember {
        let found = view.members.filter { $0.name == text || (text.count >= 4 && StoredBackupFolder.hex($0.device).hasPrefix(text)) }
        guard let member = found.first else {
            throw Refusal(.badParameter, "No device \(SafeText.visible(text)) in the circle; vauban sync status lists them")
        }
        guard found.count == 1 else {
            throw Refusal(.badParameter, "More than one device is called \(SafeText.visible(text)); use the beginning of its identifier")
        }
        return member
    }

    private static let keyBytes = 32
}
