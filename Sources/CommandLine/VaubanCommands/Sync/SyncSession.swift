import Crypto
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// This device in its circle, whose keys and state the enclave has, and the statements that the folder has.
struct SyncSession {
    let session: Session
    let home: SyncHome
    let folder: SyncFolder
    /// Whether this folder was named just now, and may be the wrong one.
    private let isMoved: Bool
    private(set) var view: CircleView

    /// Finds what this device has of a circle, or of a request to join one.
    /// - Parameter folder: Where the folder is now, if it was moved.
    init(_ session: Session, _ home: SyncHome, at folder: SyncFolder? = nil) throws {
        self.session = session
        self.home = home
        view = try session.keychain.circle(.view).reply.view
        isMoved = folder != nil
        guard let folder = try folder ?? home.folder else {
            throw Refusal(.badParameter, "The folder of this device's circle is not known any more; run: vauban sync --folder FOLDER")
        }
        self.folder = folder
    }

    /// Performs a request, whose outcome the enclave has stored when it returns.
    @discardableResult
    mutating func perform(_ request: CircleRequest) throws -> CircleReply {
        let session = session
        let reply =
            request.mayWaitForUser
            ? try session.asking { try session.keychain.circle(request, waiting: $0).reply } : try session.keychain.circle(request).reply
        view = reply.view
        return reply
    }

    /// Performs a request that changes the circle, and adds its statement to the folder. If that fails, `follow` does it later.
    @discardableResult
    mutating func change(_ request: CircleRequest) throws -> CircleReply {
        let reply = try perform(request)
        if let statement = reply.document { try folder.add(SyncFolder.name(of: view.number), in: .circle, statement) }
        return reply
    }

    /// Follows the statements of other members. Throws if the folder lacks what was there before, or has something else in its place.
    mutating func follow() throws {
        guard view.circle != nil else {
            throw Refusal(.notAllowedHere, "This device still waits to join; run vauban sync join again")
        }
        let name = SyncFolder.name(of: view.number)
        if !isMoved, let own = try perform(.view).document, try folder.read(name, in: .circle) == nil {
            try folder.add(name, in: .circle, own)
        }
        guard let known = try folder.read(name, in: .circle), Array(SHA256.hash(data: known)) == view.digest else {
            throw Refusal(
                .badParameter,
                "The folder lacks circle/\(name), or has another: it was rolled back or altered, or is not copied completely. "
                    + "Copy all of it; if that does not help, run vauban sync leave, then join again")
        }
        while view.number < CircleRequest.numberMax, let next = try folder.read(SyncFolder.name(of: view.number + 1), in: .circle) {
            let before = view.members
            do {
                guard next.count <= CircleRequest.documentBytesMax else { throw Refusal(.badParameter, "it is too long") }
                try perform(.follow(statement: next))
            } catch let refusal as Refusal where refusal.reason == .badParameter {
                throw Refusal(
                    .badParameter,
                    "The folder's circle/\(SyncFolder.name(of: view.number + 1)) is refused: \(refusal.detail ?? refusal.message). "
                        + "If none of your devices wrote it, remove it")
            }
            for member in view.members where !before.contains(member) { say("\(SafeText.visible(member.name)) joined the circle.") }
            for member in before where !view.members.contains(member) {
                say("\(SafeText.visible(member.name)) was removed from the circle.")
            }
        }
    }

    /// Opens the circle on the keychain's connection. Returns the ciphers of the files, by epoch, and of the state.
    func open() throws -> (files: [FrameCipher], state: FrameCipher) {
        let (reply, entry) = try session.keychain.circle(.open)
        let count = Int(reply.view.epoch)
        guard let keys = entry.takeSecret(), keys.count == (count + 1) * Self.keyBytes else {
            throw Refusal(.internalError, "the enclave returned no keys of the circle")
        }
        let ciphers = (0...count).map { FrameCipher(keys.part($0 * Self.keyBytes..<($0 + 1) * Self.keyBytes)) }
        return (Array(ciphers.dropLast()), ciphers[count])
    }

    func sign(_ digest: [UInt8]) throws -> [UInt8] {
        guard let signature = try session.keychain.circle(.sign(digest: digest)).reply.document,
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
