/// The token of private keys in the enclave (`kSecAttrTokenIDSecureEnclave`).
package enum EnclaveToken {
    package static let identifier = "com.apple.setoken"
}

extension ItemAttributes {
    /// Whether an item's value is an enclave key: bytes that only the enclave reads.
    package var isOfEnclave: Bool { self[.tokenID] == .text(EnclaveToken.identifier) }
}
