/// The token that private keys of the enclave name (`kSecAttrTokenIDSecureEnclave`).
package enum EnclaveToken {
    package static let identifier = "com.apple.setoken"
}

extension ItemAttributes {
    /// Whether an item's value is a private key of the enclave: bytes that only the enclave reads.
    package var isOfEnclave: Bool { self[.tokenID] == .text(EnclaveToken.identifier) }
}
