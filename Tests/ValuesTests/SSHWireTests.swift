import Testing
import VaubanSSHWire
import VaubanSecretBytes

/// The agent's SSH messages, parsed strictly. Tests/Scripts/ssh-agent.sh tests them with real programs.
@Suite struct SSHWireTests {
    private static func request(_ bytes: [UInt8]) throws -> SSHAgentRequest {
        try SecretBytes(copying: bytes).withUnsafeBytes { bytes throws(SSHError) in try SSHAgentRequest(bytes) }
    }

    private static let key = SSHPublicKey(p256: [4] + [UInt8](repeating: 7, count: 64))

    /// Returns a message that adds an Ed25519 key with these constraints.
    private static func addition(_ constraints: [UInt8] = [], pair: [UInt8]? = nil) -> [UInt8] {
        let point = [UInt8](repeating: 9, count: 32)
        return SSHWriter.of { writer in
            writer.byte(constraints.isEmpty ? 17 : 25)
            writer.text("ssh-ed25519")
            writer.string(point)
            writer.string(pair ?? [UInt8](repeating: 1, count: 32) + point)
            writer.text("a comment")
        } + constraints
    }

    @Test("Numbers are in their shortest form") func numbersAreInTheirShortestForm() throws {
        #expect(SSHWriter.of { $0.magnitude([0, 0, 0x80]) } == [0, 0, 0, 2, 0, 0x80])
        #expect(SSHWriter.of { $0.magnitude([0]) } == [0, 0, 0, 0])
        for wrong: [UInt8] in [[0, 0, 0, 1, 0x80], [0, 0, 0, 1, 0], [0, 0, 0, 2, 0, 1], [0, 0, 0, 2, 1]] {
            #expect(throws: SSHError.self) { try SSHReader.read(wrong) { reader throws(SSHError) in [UInt8](try reader.magnitude()) } }
        }
    }

    @Test("A key is decoded as it was encoded") func keyDecodesToWhatWasEncoded() throws {
        #expect(try SSHPublicKey(blob: Self.key.blob) == Self.key)
        #expect(throws: SSHError.self) { try SSHPublicKey(blob: Self.key.blob + [0]) }
        #expect(!SSHPublicKey.isCertificate(Self.key.blob))
    }

    @Test("An added key is kept unchanged") func addedKeyIsKeptUnchanged() throws {
        guard case .add(let added) = try Self.request(Self.addition()) else { throw SSHError("this is no key") }
        #expect(added.comment == "a comment" && added.certificate == nil)
        let again = try added.fields.withUnsafeBytes { bytes throws(SSHError) in try SSHPrivateFields(bytes).publicKey }
        #expect(again == added.publicKey)
        #expect(throws: SSHError.self) { try Self.request(Self.addition(pair: [UInt8](repeating: 1, count: 64))) }
    }

    @Test("Constraints that cannot be met refuse the key") func constraintsThatCannotBeMetRefuseTheKey() throws {
        guard case .add(let added) = try Self.request(Self.addition([1, 0, 0, 0, 60, 2])) else { throw SSHError("this is no key") }
        #expect(added.constraints.seconds == 60 && added.constraints.needsConfirmation)
        let unknown = SSHWriter.of { writer in
            writer.byte(255)
            writer.text("other@example.org")
            writer.string([])
        }
        for wrong: [UInt8] in [[3, 0, 0, 0, 1], [1, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 1, 1, 0, 0, 0, 1], [9], unknown] {
            #expect(throws: SSHError.self) { try Self.request(Self.addition(wrong)) }
        }
    }

    @Test("The data to be signed names its purpose") func signedDataNamesItsPurpose() {
        let login = SSHWriter.of { writer in
            writer.string([UInt8](repeating: 5, count: 32))
            writer.byte(50)
            for text in ["git", "ssh-connection", "publickey-hostbound-v00@openssh.com"] { writer.text(text) }
            writer.byte(1)
            writer.text("ecdsa-sha2-nistp256")
            writer.string(Self.key.blob)
            writer.string(Self.key.blob)
        }
        guard case .login(let read) = SSHSignedData(login) else { return #expect(Bool(false), "this is a login") }
        #expect(read.user == "git" && read.publicKey == Self.key.blob && read.hostKey == Self.key.blob)
        #expect(SSHSignedData(login + [0]) == .unknown)
        let message =
            Array("SSHSIG".utf8)
            + SSHWriter.of { writer in
                writer.text("git")
                writer.string([])
                writer.text("sha256")
                writer.string([UInt8](repeating: 0, count: 32))
            }
        #expect(SSHSignedData(message) == .message(namespace: "git"))
        #expect(SSHSignedData(Array(message.dropLast())) == .unknown)
        #expect(SSHSignedData(SSHWriter.of { $0.text("ssh-ed25519-cert-v01@openssh.com") }) == .certificate)
    }

    /// Every prefix of a message is refused, and nothing is read beyond it.
    @Test("Nothing is read beyond the end of a message") func nothingIsReadBeyondTheEnd() {
        let whole = Self.addition([1, 0, 0, 0, 60])
        for count in 0..<whole.count where count != whole.count - 5 {
            #expect(throws: SSHError.self) { try Self.request(Array(whole[..<count])) }
        }
    }

    /// Returns a certificate of `key` with these times; `kind` 1 is a user's, 2 a server's.
    private static func certificate(kind: UInt32 = 1, before: [UInt32] = [0, 1_900_000_000]) -> [UInt8] {
        SSHWriter.of { writer in
            writer.text("ecdsa-sha2-nistp256-cert-v01@openssh.com")
            writer.string([UInt8](repeating: 3, count: 32))
            writer.text("nistp256")
            writer.string([4] + [UInt8](repeating: 7, count: 64))
            for number: UInt32 in [0, 1, kind] { writer.number(number) }
            writer.text("anna")
            writer.string([])
            for number in [0, 0] + before { writer.number(number) }
            for _ in 0..<5 { writer.string([]) }
        }
    }

    @Test("A certificate names its key and the end of its validity, and is read to its last byte") func certificateNamesItsKey() throws {
        let whole = Self.certificate()
        let certificate = try SSHCertificate(blob: whole)
        #expect(certificate.publicKey == Self.key && certificate.isOfUser && certificate.keyID == "anna")
        #expect(certificate.validBefore == 1_900_000_000)
        #expect(try SSHCertificate(blob: Self.certificate(before: [.max, .max])).validBefore == nil)
        #expect(try !SSHCertificate(blob: Self.certificate(kind: 2)).isOfUser)
        #expect(throws: SSHError.self) { try SSHCertificate(blob: Self.certificate(kind: 3)) }
        #expect(throws: SSHError.self) { try SSHCertificate(blob: Self.key.blob) }
        for count in 0..<whole.count { #expect(throws: SSHError.self) { try SSHCertificate(blob: Array(whole[..<count])) } }
        #expect(throws: SSHError.self) { try SSHCertificate(blob: whole + [0]) }
    }

    @Test("A certificate belongs to the key that it has, whether or not this agent supports its type") func certificateBelongsToItsKey() {
        #expect(SSHPublicKey.isCertificate(Self.certificate(), of: Self.key.blob))
        let other = SSHPublicKey(p256: [4] + [UInt8](repeating: 8, count: 64))
        #expect(!SSHPublicKey.isCertificate(Self.certificate(), of: other.blob))
        #expect(!SSHPublicKey.isCertificate(Self.key.blob, of: Self.key.blob))
        func securityKey(_ type: String, nonce: [UInt8]?, point: UInt8) -> [UInt8] {
            SSHWriter.of { writer in
                writer.text(type)
                if let nonce { writer.string(nonce) }
                writer.string([UInt8](repeating: point, count: 32))
                writer.text("ssh:")
                if nonce != nil { writer.string([]) }
            }
        }
        let key = securityKey("sk-ssh-ed25519@openssh.com", nonce: nil, point: 1)
        let type = "sk-ssh-ed25519-cert-v01@openssh.com"
        #expect(SSHPublicKey.isCertificate(securityKey(type, nonce: [5], point: 1), of: key))
        #expect(!SSHPublicKey.isCertificate(securityKey(type, nonce: [5], point: 2), of: key))
        #expect(!SSHPublicKey.isCertificate(securityKey("ssh-ed25519-cert-v01@openssh.com", nonce: [5], point: 1), of: key))
    }
}
