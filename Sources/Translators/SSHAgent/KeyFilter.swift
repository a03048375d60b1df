internal import VaubanSSHWire

/// The keys that a socket offers: all keys, or those with the given names or fingerprints (`SHA256:…`).
struct KeyFilter: Sendable {
    private let names: Set<String>

    init(names: [String]) { self.names = Set(names) }

    var offersAll: Bool { names.isEmpty }

    func offers(_ name: String, blob: [UInt8]) -> Bool {
        offersAll || names.contains(name) || names.contains(Base64.fingerprint(of: blob))
            // A certificate is matched by the fingerprint of its key.
            || (try? SSHPublicKey(blob: blob)).map { names.contains(Base64.fingerprint(of: $0.blob)) } ?? false
    }
}
