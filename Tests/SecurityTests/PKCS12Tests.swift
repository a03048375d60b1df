import Foundation
import Security
import TestSupport
import Testing

/// Identities from OpenSSL's files, and from invalid ones.
@Suite struct PKCS12Tests {
    private let openssl: OpenSSL

    init() throws { openssl = try OpenSSL() }

    private func imported(_ file: Data, _ passphrase: String?) -> (status: OSStatus, items: [[String: Any]]) {
        var items: CFArray?
        let options = passphrase.map { [kSecImportExportPassphrase: $0] } ?? [:]
        let status = SecPKCS12Import(NSData(data: file), options as CFDictionary, &items)
        return (status, items as? [[String: Any]] ?? [])
    }

    private func file(_ name: String, passphrase: String, options: [String] = []) throws -> Data {
        try openssl.export(name, passphrase: passphrase, options: options)
        return try Data(contentsOf: openssl.path("\(name).p12"))
    }

    /// The current defaults, those before OpenSSL 3, and its other options.
    @Test(
        "A PKCS #12 file of OpenSSL yields its identity, whatever algorithms it uses",
        arguments: [
            [], ["-legacy"], ["-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES", "-macalg", "sha1"],
            ["-keypbe", "AES-128-CBC", "-certpbe", "AES-192-CBC", "-macalg", "sha512", "-iter", "100000"],
            ["-certpbe", "NONE", "-macalg", "sha384"], ["-keypbe", "NONE", "-certpbe", "AES-256-CBC"],
            ["-legacy", "-certpbe", "PBE-SHA1-RC2-128"],
        ])
    func fileFromOpenSSLYieldsItsIdentity(_ options: [String]) throws {
        defer { openssl.remove() }
        let root = try openssl.selfSigned("root", ["basicConstraints = critical,CA:TRUE"])
        for key in ["ec", "rsa:2048"] {
            let leaf = try openssl.issue("leaf", by: "root", [], key: key)
            let data = try file("leaf", passphrase: "pässword", options: ["-certfile", "root.pem", "-name", "Anna’s key"] + options)
            let (status, items) = imported(data, "pässword")
            try #require(status == errSecSuccess, "\(options) \(SecCopyErrorMessageString(status, nil) ?? "")")
            try #require(items.count == 1)
            let identity = try #require(items[0][kSecImportItemIdentity as String] as? SecIdentity)
            var certificate: SecCertificate?
            #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess && certificate == leaf)
            var privateKey: SecKey?
            #expect(SecIdentityCopyPrivateKey(identity, &privateKey) == errSecSuccess)
            let made = try #require(privateKey)
            #expect(SecKeyCopyPublicKey(made) == SecCertificateCopyKey(leaf))
            #expect(SecIdentityCreate(nil, leaf, made) == identity && SecIdentityCreate(nil, root, made) == nil)
            #expect(items[0][kSecImportItemLabel as String] as? String == "Anna’s key")
            #expect((items[0][kSecImportItemKeyID as String] as? Data)?.count == 20)
            let trust = try #require(items[0][kSecImportItemTrust as String] as? SecTrust)
            #expect(SecTrustSetAnchorCertificates(trust, [root] as NSArray) == errSecSuccess && SecTrustEvaluateWithError(trust, nil))
            #expect(items[0][kSecImportItemCertChain as String] as? [SecCertificate] == [leaf, root])
            #expect(imported(data, "passwort").status == errSecAuthFailed)
            #expect(imported(data, "").status == errSecAuthFailed)
        }
    }

    @Test("An import requires a passphrase, which may be empty") func passphraseIsRequiredAndMayBeEmpty() throws {
        defer { openssl.remove() }
        _ = try openssl.selfSigned("alone", [])
        let data = try file("alone", passphrase: "")
        #expect(imported(data, "").items.count == 1)
        #expect(imported(data, nil).status == errSecPassphraseRequired)
        #expect(imported(try file("alone", passphrase: "x", options: ["-nomac"]), "x").status == errSecPkcs12VerifyFailure)
        // Certificates without a key are not identities.
        let (status, items) = imported(try file("alone", passphrase: "x", options: ["-nokeys"]), "x")
        #expect(status == errSecSuccess && items.isEmpty)
    }

    @Test("An unsupported kind of key is reported") func unsupportedKeyKindIsReported() throws {
        defer { openssl.remove() }
        _ = try openssl.selfSigned("edwards", [], key: "ed25519")
        #expect(imported(try file("edwards", passphrase: "x"), "x").status == errSecUnsupportedKeyFormat)
    }

    /// Every prefix of a file, and every file with one byte changed, is refused or yields the same identity: nothing hangs, and nothing is
    /// trusted.
    @Test("A damaged file is refused or yields the same identity") func damagedFilesAreRefused() throws {
        defer { openssl.remove() }
        _ = try openssl.selfSigned("alone", [])
        let data = try file("alone", passphrase: "x", options: ["-iter", "1", "-maciter"])
        let whole = try #require(imported(data, "x").items.first?[kSecImportItemIdentity as String] as? SecIdentity)
        for count in stride(from: 0, to: data.count, by: 7) { #expect(imported(data.prefix(count), "x").status == errSecDecode) }
        #expect(imported(data + Data([0]), "x").status == errSecDecode)
        for place in stride(from: 0, to: data.count, by: 3) {
            var changed = data
            changed[place] ^= 1 << (place % 8)
            let (status, items) = imported(changed, "x")
            if status == errSecSuccess { #expect(items.first?[kSecImportItemIdentity as String] as? SecIdentity == whole) }
        }
        #expect(imported(Data(repeating: 0x30, count: 1 << 21), "x").status == errSecDecode)
        #expect(imported(Data(repeating: 0x30, count: 100_000), "x").status == errSecDecode)
    }

    /// A number of rounds that would take hours is refused before the first round.
    @Test("A file that demands hours of key derivation is refused at once", .timeLimit(.minutes(30))) func workForAFileIsLimited() throws {
        defer { openssl.remove() }
        _ = try openssl.selfSigned("alone", [])
        var data = try file("alone", passphrase: "x", options: ["-macalg", "sha256"])
        // The rounds of the MAC are the last number of the file, 2,048. Of the two sequences that end with it, the file's own has its
        // length in two bytes.
        try #require(data.suffix(4) == Data([0x02, 0x02, 0x08, 0x00]) && data.starts(with: [0x30, 0x82]))
        let seal = try #require(data.range(of: Data([0x30, 0x41, 0x30, 0x31, 0x30, 0x0D])))
        data[seal.lowerBound + 1] += 2
        let length = UInt16(data.count - 4 + 2)
        (data[2], data[3]) = (UInt8(length >> 8), UInt8(length & 0xFF))
        data.replaceSubrange(data.count - 4..<data.count, with: Data([0x02, 0x04, 0x7F, 0xFF, 0xFF, 0xFF]))
        #expect(imported(data, "x").status == errSecDecode)
        #expect((SecCopyErrorMessageString(errSecDecode, nil) as String?)?.contains("rounds") == true)
    }
}
