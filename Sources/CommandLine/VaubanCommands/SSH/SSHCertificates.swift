import Foundation
import Glibc
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSSHWire
import VaubanSecretBytes

/// The certificates of keys: an item of the service `ssh-certificate` for each, whose account is the key's name (Specs/ssh-agent.md,
/// "Items").
struct SSHCertificates {
    private let client: ServiceClient
    private static let fileBytesMax = 64 << 10
    /// The attempts after which sshd refuses a login (MaxAuthTries in sshd_config(5)). ssh tries each key and each certificate.
    private static let attemptsMax = 6

    init(_ client: ServiceClient) { self.client = client }

    /// Returns whether a file has a public half or a certificate, by its name as OpenSSH gives it.
    static func isPublic(_ file: String) -> Bool { file.hasSuffix(".pub") }

    /// Returns the user's certificate in a file.
    ///
    /// - Throws: `badParameter` if the file has something else.
    static func certificate(inFile file: String) throws(Refusal) -> SSHCertificate {
        let name = SafeText.visible(file)
        guard let text = SmallFile.text(path: file, max: fileBytesMax) else {
            throw Refusal(.badParameter, "\(name) cannot be read as text")
        }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count >= 2, let blob = Data(base64Encoded: String(words[1])) else {
            throw Refusal(.badParameter, "\(name) is not an SSH certificate")
        }
        guard SSHPublicKey.isCertificate([UInt8](blob)) else {
            throw Refusal(.badParameter, "\(name) is a public key without a certificate; import the file of the private key")
        }
        let certificate: SSHCertificate
        do throws(SSHError) { certificate = try SSHCertificate(blob: [UInt8](blob)) } catch {
            throw Refusal(.badParameter, "\(name) cannot be used: \(error)")
        }
        guard certificate.isOfUser else { throw Refusal(.badParameter, "\(name) is a server's certificate; only a user's can be stored") }
        return certificate
    }

    /// Stores the certificate of a key, in place of an earlier one.
    ///
    /// - Throws: `badParameter` if it certifies another key, `duplicateItem` if it is already stored.
    func set(_ certificate: SSHCertificate, of key: SSHKeyOfUser) throws {
        guard certificate.publicKey == key.publicKey else {
            throw Refusal(.badParameter, "This certificate is for another key than \(SafeText.visible(key.name))")
        }
        if let record = try record(key.name) {
            guard record.attributes[.generic] != .data(certificate.blob) else {
                throw Refusal(.duplicateItem, "This certificate of \(SafeText.visible(key.name)) is already stored")
            }
            let changes = ItemChanges(attributes: ItemAttributes([.generic: .data(certificate.blob)]), hasData: true)
            try client.update(record, changes, secret: SecretBytes(copying: certificate.blob), reason: "store a certificate for SSH")
        } else {
            var record = SSHKeyring.password(service: SSHItem.certificateService, name: key.name, blob: certificate.blob)
            record.protection = key.protection
            try client.add(record, secret: SecretBytes(copying: certificate.blob))
        }
    }

    /// Moves the certificate of a key to another key's name.
    func rename(_ old: String, to new: String) throws {
        guard let record = try record(old) else { return }
        let name = ItemAttributes([.account: .text(new), .label: .text("\(SSHItem.certificateService)/\(new)")])
        try client.update(record, ItemChanges(attributes: name), secret: nil, reason: "rename a key for SSH")
    }

    /// Tells the user what to do once ssh has so many keys and certificates to try that a server refuses before the right one.
    func reportCrowd() {
        guard let keys = try? SSHKeyring(client).keys(), let certificates = try? all(of: keys) else { return }
        let number = keys.count + certificates.count
        guard number >= Self.attemptsMax else { return }
        say(
            """
            Note: The agent now offers \(number) keys and certificates. Servers usually refuse a login after \(Self.attemptsMax) \
            attempts, so name the key for each server in ~/.ssh/config, as IdentityFile ~/.ssh/NAME.pub with IdentitiesOnly yes. \
            To write that file: vauban ssh list NAME --public >~/.ssh/NAME.pub
            """)
    }

    /// Returns the certificate of each of the keys that has one.
    func all(of keys: [SSHKeyOfUser]) throws -> [String: SSHCertificate] {
        let found = try client.withUnlock { try client.found(SSHItem.passwords(of: SSHItem.certificateService)).compactMap(\.record) }
        var certificates: [String: SSHCertificate] = [:]
        for key in keys {
            for record in found where record.text(.account) == key.name {
                guard case .data(let blob)? = record.attributes[.generic], let certificate = try? SSHCertificate(blob: blob),
                    certificate.publicKey == key.publicKey
                else { continue }
                certificates[key.name] = certificate
            }
        }
        return certificates
    }

    private func record(_ key: String) throws -> ItemRecord? {
        var query = SSHItem.passwords(of: SSHItem.certificateService)
        query.attributes[.account] = .text(key)
        let wanted = query
        return try client.withUnlock { try client.found(wanted).compactMap(\.record).first }
    }
}

extension SSHCertificate {
    /// A sentence about the certificate for the user.
    var words: String {
        let name = "certificate “\(SafeText.line(keyID, max: 80))”"
        guard let validBefore else { return "\(name), valid forever" }
        let isOver = Double(validBefore) <= Date().timeIntervalSince1970
        return "\(name), \(isOver ? "expired at" : "valid until") \(Date.text(secondsSince1970: validBefore))"
    }
}
