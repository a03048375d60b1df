// An algorithm's name, parsed. Algorithms without a case here are unsupported for every key.

/// A hash of swift-crypto, which does not include SHA-224.
enum KeyHash: String, Sendable {
    case sha1 = "SHA1"
    case sha256 = "SHA256"
    case sha384 = "SHA384"
    case sha512 = "SHA512"

    var byteCount: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }
}

enum KeyMethod: Hashable, Sendable {
    /// The signed input: the message or its digest; nil accepts a digest of any length.
    enum Input: Hashable, Sendable {
        case message(KeyHash)
        case digest(KeyHash?)
    }

    /// `isRaw`: r ‖ s (RFC 4754) instead of a sequence (X9.62).
    case ecdsa(Input, isRaw: Bool)
    case rsaSignature(Input, isPSS: Bool)
    case rsaEncryption(RSAPadding)
    /// An AES key encrypted with RSA, and the message encrypted with that AES key.
    case rsaHybrid(KeyHash)
    case ecies(KeyHash, derivesIV: Bool)
    /// A key exchange; without a hash, it returns the shared secret itself.
    case exchange(KeyHash?)

    enum RSAPadding: Hashable, Sendable {
        case pkcs1
        case oaep(KeyHash)
    }

    init?(_ name: String) {
        let parts = name.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3, parts[0] == "algid" else { return nil }
        let rest = Array(parts.dropFirst(3))
        switch (parts[1], parts[2]) {
        case ("sign", "ECDSA"): self.init(ecdsa: rest)
        case ("sign", "RSA"): self.init(rsaSignature: rest)
        case ("encrypt", "RSA"): self.init(rsaEncryption: rest)
        // The cofactor of these curves is 1, so both exchanges are the same.
        case ("encrypt", "ECIES") where rest.count == 4 && ["ECDH", "ECDHC"].contains(rest[0]) && rest[1] == "KDFX963":
            guard let hash = KeyHash(rawValue: rest[2]), ["AESGCM", "AESGCM-KDFIV"].contains(rest[3]) else { return nil }
            let derivesIV = rest[3] == "AESGCM-KDFIV"
            guard hash != .sha1 || !derivesIV else { return nil }
            self = .ecies(hash, derivesIV: derivesIV)
        case ("keyexchange", "ECDH") where rest.isEmpty, ("keyexchange", "ECDHC") where rest.isEmpty: self = .exchange(nil)
        case ("keyexchange", "ECDH"), ("keyexchange", "ECDHC"):
            guard rest.count == 2, rest[0] == "KDFX963", let hash = KeyHash(rawValue: rest[1]) else { return nil }
            self = .exchange(hash)
        default: return nil
        }
    }

    private init?(ecdsa rest: [String]) {
        guard let form = rest.first else { return nil }
        if form == "RFC4754", rest.count == 1 {
            self = .ecdsa(.digest(nil), isRaw: true)
            return
        }
        let (kind, encoding) = Self.halves(form)
        guard let encoding = encoding, ["X962", "RFC4754"].contains(encoding),
            let input = Self.input(kind, rest.dropFirst(), anyDigest: true)
        else { return nil }
        self = .ecdsa(input, isRaw: encoding == "RFC4754")
    }

    private init?(rsaSignature rest: [String]) {
        guard let form = rest.first else { return nil }
        let (kind, padding) = Self.halves(form)
        switch padding {
        case "PKCS1v15":
            guard rest.count == 2, let input = Self.input(kind, rest.dropFirst(), anyDigest: false) else { return nil }
            self = .rsaSignature(input, isPSS: false)
        case "PSS":
            // Both hashes must be the same, and the salt as long as the hash.
            guard rest.count == 4, rest[1] == rest[2], let hash = KeyHash(rawValue: rest[1]), Int(rest[3]) == hash.byteCount,
                let input = Self.input(kind, rest[1...1], anyDigest: false)
            else { return nil }
            self = .rsaSignature(input, isPSS: true)
        default: return nil
        }
    }

    private init?(rsaEncryption rest: [String]) {
        switch rest.first {
        case "PKCS1" where rest.count == 1: self = .rsaEncryption(.pkcs1)
        case "OAEP" where rest.count == 2 || (rest.count == 3 && rest[2] == "AESGCM"):
            // swift-crypto supports OAEP with these two hashes only.
            guard let hash = KeyHash(rawValue: rest[1]), [.sha1, .sha256].contains(hash) else { return nil }
            self = rest.count == 3 ? .rsaHybrid(hash) : .rsaEncryption(.oaep(hash))
        default: return nil
        }
    }

    private static func halves(_ form: String) -> (String, String?) {
        let parts = form.split(separator: "-", maxSplits: 1).map(String.init)
        return (parts[0], parts.count == 2 ? parts[1] : nil)
    }

    private static func input(_ kind: String, _ hash: ArraySlice<String>, anyDigest: Bool) -> Input? {
        switch (kind, hash.first) {
        case ("digest", nil): return anyDigest ? .digest(nil) : nil
        case ("digest", let name?): return hash.count == 1 ? KeyHash(rawValue: name).map { .digest($0) } : nil
        case ("message", let name?): return hash.count == 1 ? KeyHash(rawValue: name).map(Input.message) : nil
        default: return nil
        }
    }
}

extension SecKeyOperationType {
    /// Whether the operation needs the private key.
    var takesPrivateKey: Bool {
        switch self {
        case .sign, .decrypt, .keyExchange: true
        case .verify, .encrypt: false
        }
    }

    func fits(_ method: KeyMethod) -> Bool {
        switch (self, method) {
        case (.sign, .ecdsa), (.sign, .rsaSignature), (.verify, .ecdsa), (.verify, .rsaSignature): true
        case (.encrypt, .rsaEncryption), (.encrypt, .rsaHybrid), (.encrypt, .ecies): true
        case (.decrypt, .rsaEncryption), (.decrypt, .rsaHybrid), (.decrypt, .ecies): true
        case (.keyExchange, .exchange): true
        default: false
        }
    }
}
