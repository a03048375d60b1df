import Crypto
package import VaubanRefusal
package import VaubanSyncModel
package import VaubanUserModel

/// The names of the files with which a device forwards its prompts to others (Specs/forwarded-prompts.md). Each file is replaced as a
/// whole.
package enum ForwardedFile: String, CaseIterable {
    /// The enclave's key card, and the key that verifies prompts.
    case forwarder
    /// The current prompt, or how the last one ended.
    case prompt
    /// The last answer of another device.
    case answer

    /// The longest of these files: the texts of a prompt have some kilobytes.
    static let bytesMax = 256 << 10

    /// Removes the files of a device, if possible.
    static func removeAll(of device: [UInt8], in folder: any SyncCarrier) {
        for file in allCases { folder.remove(file.rawValue, in: .prompts(device)) }
        folder.tidy(.prompts(device))
    }
}

extension SyncCarrier {
    /// Returns the bytes of a file of a device, or nil if it does not exist. A file that is too long counts as empty.
    func read(_ file: ForwardedFile, of device: [UInt8]) throws(Refusal) -> [UInt8]? {
        try read(file.rawValue, in: .prompts(device)).map { $0.count <= ForwardedFile.bytesMax ? $0 : [] }
    }

    func replace(_ file: ForwardedFile, of device: [UInt8], with bytes: [UInt8]) throws(Refusal) {
        try replace(bytes, named: file.rawValue, in: .prompts(device))
    }
}

/// The announcement of a device, signed by its enclave, that it forwards prompts.
package struct ForwarderFile: Hashable, Sendable {
    private static let magic = Array("VAUBAN FORWARDER 1\n".utf8)
    private static let family = Array("VAUBAN FORWARDER ".utf8)

    /// The epoch of the circle key from which the key of the prompts is derived.
    package let epoch: Int64
    /// When it was written, in microseconds since 2001-01-01.
    package let time: Int64
    /// The key of the enclave to which answers are sealed.
    package let card: EnclaveKeyCard
    /// The key that verifies the prompts.
    package let verification: [UInt8]

    package init(epoch: Int64, time: Int64, card: EnclaveKeyCard, verification: [UInt8]) {
        self.epoch = epoch
        self.time = time
        self.card = card
        self.verification = verification
    }

    /// Returns what the enclave signs together with its card.
    package static func digest(of device: [UInt8], in circle: CircleView, time: Int64, verification: [UInt8]) -> [UInt8] {
        digest(of: device, in: circle, epoch: circle.epoch, time: time, verification: verification)
    }

    private static func digest(of device: [UInt8], in circle: CircleView, epoch: Int64, time: Int64, verification: [UInt8]) -> [UInt8] {
        let bound = magic + (circle.circle ?? []) + device + BackupFormat.number(Int(epoch)) + SyncFile.bytes(of: time) + verification
        return Array(SHA256.hash(data: bound))
    }

    /// Returns the bytes of the file.
    package func bytes(signature: [UInt8]) -> [UInt8] {
        Self.magic + BackupFormat.number(Int(epoch)) + SyncFile.bytes(of: time) + card.publicKey + verification + signature
    }

    /// Reads and verifies the file of a device. The device's enclave must have signed it under the newest key of the circle: under an
    /// earlier one, a removed device could read the forwarded prompts.
    package static func opened(_ bytes: [UInt8], of device: CircleMember, in circle: CircleView) throws(Refusal) -> ForwarderFile {
        let name = "What \(SafeText.visible(device.name)) says of its prompts"
        let altered = Refusal(.badParameter, "\(name) is incomplete in the folder, or was altered")
        guard bytes.starts(with: magic) else {
            guard bytes.starts(with: family) else { throw altered }
            throw Refusal(.unsupported, "\(name) was written by a later version of Vauban; update Vauban")
        }
        var reader = ByteReader(Array(bytes.dropFirst(magic.count)))
        guard let epoch = reader.number(), let time = reader.date(), let card = reader.take(32), let verification = reader.take(32),
            let signature = reader.take(64), reader.isAtEnd,
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: device.verification)
        else { throw altered }
        let digest = digest(of: device.device, in: circle, epoch: Int64(epoch), time: time, verification: verification)
        let signed = Array("vauban sync key card v1".utf8) + [0] + (circle.circle ?? []) + device.device + card + digest
        guard key.isValidSignature(signature, for: signed) else { throw altered }
        guard epoch == circle.epoch else {
            throw Refusal(
                .keyUnknown,
                "\(SafeText.visible(device.name)) forwards its prompts under another key of the circle than the newest; "
                    + "unlock its keychain, and run vauban sync here and there")
        }
        return ForwarderFile(epoch: Int64(epoch), time: time, card: EnclaveKeyCard(publicKey: card), verification: verification)
    }

    /// Returns the cipher of the prompts, given the cipher of the device's files in this epoch.
    package func cipher(of device: [UInt8], in circle: CircleView, _ files: FrameCipher) -> FrameCipher {
        files.derived(label: "vauban forwarded prompts v1", context: (circle.circle ?? []) + device + verification)
    }
}
