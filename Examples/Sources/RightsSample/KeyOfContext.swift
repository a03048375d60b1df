// The code of the same talk before it introduces rights: an LAContext, an access control and a key of the Secure Enclave, step by step.
import Foundation
import LocalAuthentication
import Security

struct KeyOfContext {
    /// LAContext: authorize a signature operation, 1.
    func accessControl() throws(Problem) -> Any {
        let query: [String: Any] = [
            kSecClass as String: kSecClassKey,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
            kSecAttrApplicationTag as String: "com.example.app.key",
            kSecReturnAttributes as String: true,
        ]
        var item: CFTypeRef? = nil
        guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess, let attrs = item as? NSDictionary,
            let accessControl = attrs[kSecAttrAccessControl]
        else { throw .aclNotFound }
        return accessControl
    }

    /// 2.
    func authorize(_ accessControl: Any) async throws -> LAContext {
        let context = LAContext()
        try await context.evaluateAccessControl(
            accessControl as! SecAccessControl, operation: .useKeySign, localizedReason: "Authentication is required to proceed")
        return context
    }

    /// 3.
    func key(_ context: LAContext) throws(Problem) -> CFTypeRef? {
        let query: [String: Any] = [
            kSecClass as String: kSecClassKey,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
            kSecAttrApplicationTag as String: "com.example.app.key",
            kSecReturnRef as String: true,
            kSecUseAuthenticationContext as String: context,
        ]
        var item: CFTypeRef? = nil
        guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess, item != nil else { throw .keyNotFound }
        return item
    }

    /// 4.
    func sign(_ item: CFTypeRef?, _ blob: CFData) throws(Problem) -> Data {
        let privateKey = item as! SecKey
        var error: Unmanaged<CFError>?
        guard let sgt = SecKeyCreateSignature(privateKey, self.algorithm, blob, &error) as Data? else { throw .signatureFailure }
        return sgt
    }

    // Omitted in the talk.
    enum Problem: Error { case aclNotFound, keyNotFound, signatureFailure }

    let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256

    func make() -> Data? {
        guard
            let control = SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, [.privateKeyUsage, .userPresence], nil)
        else { return nil }
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            kSecPrivateKeyAttrs: [
                kSecAttrIsPermanent: true, kSecAttrApplicationTag: "com.example.app.key", kSecAttrAccessControl: control,
            ] as [CFString: Any],
        ]
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, nil), let publicKey = SecKeyCopyPublicKey(key) else { return nil }
        return SecKeyCopyExternalRepresentation(publicKey, nil) as Data?
    }
}
