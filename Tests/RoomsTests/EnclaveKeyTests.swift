// Private keys that never leave the enclave, through Apple's API and the real rooms.

import Crypto
import Foundation
import LocalAuthentication
import Security
import TestSupport
import Testing
import VaubanAuthenticationClient
import VaubanUserModel

extension AppleNames {
    @Suite("Keys of the enclave")
    struct EnclaveKeyTests {
        let rooms: Rooms
        let tag = Data("app.example.enclave.\(UUID().uuidString)".utf8)
        static let message = Data("to be signed".utf8)

        init() throws { rooms = try SharedRooms.use() }

        private func control(
            _ flags: SecAccessControlCreateFlags, _ protection: CFString = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        ) throws -> SecAccessControl {
            try #require(SecAccessControlCreateWithFlags(kCFAllocatorDefault, protection, flags, nil))
        }

        private func parameters(_ control: SecAccessControl?, permanent: Bool = true) -> CFDictionary {
            var privateKey: [CFString: Any] = [kSecAttrIsPermanent: permanent, kSecAttrApplicationTag: tag]
            if let control { privateKey[kSecAttrAccessControl] = control }
            return [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs: privateKey,
            ] as [CFString: Any] as CFDictionary
        }

        private func make(_ flags: SecAccessControlCreateFlags = .privateKeyUsage, permanent: Bool = true) throws -> SecKey {
            var error: Unmanaged<CFError>?
            let key = SecKeyCreateRandomKey(parameters(try control(flags), permanent: permanent), &error)
            if let error { Issue.record("\(error.takeRetainedValue())") }
            return try #require(key)
        }

        private func find(_ more: [CFString: Any] = [:]) -> (status: OSStatus, result: AnyObject?) {
            let query: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecAttrApplicationTag: tag,
            ]
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query.merging(more) { $1 } as CFDictionary, &result)
            return (status, result)
        }

        private func reference(_ context: LAContext? = nil) throws -> SecKey {
            var more: [CFString: Any] = [kSecReturnRef: true]
            if let context { more[kSecUseAuthenticationContext] = context }
            return try #require(find(more).result as? SecKey)
        }

        private func sign(_ key: SecKey) -> (signature: Data?, status: OSStatus, isCancelled: Bool) {
            var error: Unmanaged<CFError>?
            let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, Self.message as CFData, &error)
            let failure = error?.takeRetainedValue()
            return (signature as Data?, OSStatus(failure?.code ?? 0), (failure as? LAError)?.code == .userCancel)
        }

        private func isRight(_ signature: Data?, _ key: SecKey) throws -> Bool {
            let half = try #require(SecKeyCopyPublicKey(key))
            return try SecKeyVerifySignature(
                half, .ecdsaSignatureMessageX962SHA256, Self.message as CFData, #require(signature) as CFData, nil)
        }

        @Test("A key of the enclave is found by its tag, and signs", .proves("C-155", "C-157", "C-159", "C-162", "C-166", "C-087"))
        func createdKeyIsFoundByItsTagAndSigns() throws {
            var (publicKey, privateKey): (SecKey?, SecKey?)
            #expect(SecKeyGeneratePair(parameters(try control(.privateKeyUsage)), &publicKey, &privateKey) == errSecSuccess)
            let half = try #require(publicKey)
            let found = try reference()
            #expect(found == privateKey)
            let signature = try #require(sign(found).signature)
            #expect(SecKeyVerifySignature(half, .ecdsaSignatureMessageX962SHA256, Self.message as CFData, signature as CFData, nil))
            var altered = signature
            altered[altered.count - 1] ^= 1
            #expect(!SecKeyVerifySignature(half, .ecdsaSignatureMessageX962SHA256, Self.message as CFData, altered as CFData, nil))
            #expect(SecItemDelete([kSecClass: kSecClassKey, kSecAttrApplicationTag: tag] as CFDictionary) == errSecSuccess)
            #expect(find([kSecReturnRef: true]).status == errSecItemNotFound)
        }

        @Test("`SecKeyRawSign` signs with a key of the enclave, and `SecKeyRawVerify` verifies", .proves("C-160", "C-161"))
        func olderFunctionsSignAndVerify() throws {
            let key = try make()
            let half = try #require(SecKeyCopyPublicKey(key))
            let digest = Array(SHA256.hash(data: Self.message))
            var (signature, length) = ([UInt8](repeating: 0, count: 80), 80)
            #expect(SecKeyRawSign(key, .PKCS1, digest, digest.count, &signature, &length) == errSecSuccess)
            #expect(SecKeyRawVerify(half, .PKCS1, digest, digest.count, signature, length) == errSecSuccess)
            signature[length - 1] ^= 1
            #expect(SecKeyRawVerify(half, .PKCS1, digest, digest.count, signature, length) == errSSLCrypto)
        }

        /// Neither the private key nor its encrypted form is returned, under any of the names for keys.
        @Test("Only the public key is returned", .proves("C-156", "C-158"))
        func onlyThePublicKeyIsReturned() throws {
            let key = try make()
            var error: Unmanaged<CFError>?
            #expect(SecKeyCopyExternalRepresentation(key, &error) == nil)
            #expect(OSStatus(try #require(error).takeRetainedValue().code) == errSecUnimplemented)
            #expect((SecKeyCopyAttributes(key) as? [CFString: Any])?[kSecValueData] == nil)
            #expect((find([kSecReturnData: true]).result as? Data)?.isEmpty ?? true)
            let all = find([kSecReturnData: true, kSecReturnAttributes: true, kSecReturnRef: true]).result as? [CFString: Any]
            #expect(all?[kSecValueData] == nil && all?[kSecValueRef] is SecKey)
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            let half = try #require(SecKeyCopyExternalRepresentation(publicKey, nil) as Data?)
            #expect(half.count == 65 && half.first == 4)
            #expect(all?[kSecAttrIsExtractable] as? Int == 0 && all?[kSecAttrIsSensitive] as? Int == 1)
        }

        @Test("The access control of a key is returned", .proves("C-165"))
        func accessControlOfAKeyIsReturned() throws {
            let key = try make([.privateKeyUsage, .userPresence])
            let attributes = try #require(find([kSecReturnAttributes: true]).result as? [CFString: Any])
            let expected = try control([.privateKeyUsage, .userPresence])
            #expect(attributes[kSecAttrAccessControl] as? SecAccessControl == expected)
            #expect(attributes[kSecAttrAccessible] as? String == kSecAttrAccessibleWhenUnlockedThisDeviceOnly as String)
            #expect(attributes[kSecAttrTokenID] as? String == kSecAttrTokenIDSecureEnclave as String)
            #expect((SecKeyCopyAttributes(key) as? [CFString: Any])?[kSecAttrAccessControl] as? SecAccessControl == expected)
        }

        @Test("Signing and decrypting prompt; encrypting does not", .proves("C-164", "C-169", "C-175"))
        func signingAndDecryptingPromptAndEncryptingDoesNot() throws {
            let key = try make([.privateKeyUsage, .userPresence])
            let half = try #require(SecKeyCopyPublicKey(key))
            let secret = Data("for the key alone".utf8)
            let algorithm = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
            let user = try rooms.user([.passcode(Rooms.passcode), .passcode(Rooms.passcode), .passcode(Rooms.passcode), .cancel])
            defer { user.leave() }
            let packet = try #require(SecKeyCreateEncryptedData(half, algorithm, secret as CFData, nil))
            #expect(user.requests.isEmpty)
            #expect(try isRight(sign(key).signature, key))
            #expect(SecKeyCreateDecryptedData(key, algorithm, packet, nil) as Data? == secret)
            let other = try #require(
                SecKeyCreateRandomKey([kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256] as CFDictionary, nil))
            let parameters = [SecKeyKeyExchangeParameter.requestedSize.rawValue: 32] as CFDictionary
            let mine = SecKeyCopyKeyExchangeResult(
                key, .ecdhKeyExchangeStandardX963SHA256, try #require(SecKeyCopyPublicKey(other)), parameters, nil)
            let theirs = SecKeyCopyKeyExchangeResult(other, .ecdhKeyExchangeStandardX963SHA256, half, parameters, nil)
            #expect(mine as Data? == theirs as Data? && mine != nil)
            #expect(user.requests.map(\.operation) == [.sign, .decrypt, .exchangeKeys])
            #expect(sign(key).isCancelled)
        }

        /// A constraint protects a private key only together with privateKeyUsage.
        @Test("A key's access control without `privateKeyUsage` is refused") func accessControlWithoutPrivateKeyUsageIsRefused() throws {
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateRandomKey(parameters(try control(.userPresence)), &error) == nil)
            #expect(OSStatus(try #require(error).takeRetainedValue().code) == errSecParam)
            #expect(find().status == errSecItemNotFound)
        }

        @Test("A key that was found with an evaluated context does not prompt", .proves("C-132"))
        func referenceWithAnEvaluatedContextDoesNotPrompt() async throws {
            _ = try make([.privateKeyUsage, .userPresence])
            let user = try rooms.user([.passcode(Rooms.passcode), .cancel])
            defer { user.leave() }
            let context = LAContext()
            #expect(
                try await context.evaluateAccessControl(
                    control([.privateKeyUsage, .userPresence]), operation: .useKeySign, localizedReason: "approve"))
            let key = try reference(context)
            for _ in 1...3 { #expect(try isRight(sign(key).signature, key)) }
            #expect(user.requests.map(\.reason) == ["approve"])
            context.invalidate()
            #expect(sign(key).status == errSecAuthFailed)
            #expect(user.requests.count == 1)
        }

        @Test("A context that forbids interaction refuses instead of prompting") func contextWithoutInteractionRefuses() throws {
            _ = try make([.privateKeyUsage, .userPresence])
            let user = try rooms.user([.cancel])
            defer { user.leave() }
            let context = LAContext()
            context.interactionNotAllowed = true
            #expect(sign(try reference(context)).status == errSecInteractionNotAllowed)
            #expect(user.requests.isEmpty)
        }

        @Test("Failures of keys have distinct statuses", .proves("C-168"))
        func failuresHaveDistinctStatuses() throws {
            #expect(find([kSecReturnRef: true]).status == errSecItemNotFound)
            let plain = try #require(SecKeyCreateRandomKey(parameters(nil), nil))
            let attributes = try #require(find([kSecReturnAttributes: true]).result as? [CFString: Any])
            // No constraint at all is a control without one, and not that of another key.
            #expect(
                attributes[kSecAttrAccessControl] as? SecAccessControl
                    == SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateSignature(plain, .rsaSignatureMessagePKCS1v15SHA256, Self.message as CFData, &error) == nil)
            #expect(OSStatus(try #require(error).takeRetainedValue().code) == errSecParam)
            // A signature fails for its own reason: the keychain is locked, or the user cancels.
            try rooms.authentication.lock()
            #expect(sign(plain).status == errSecInteractionNotAllowed)
            try rooms.unlock()
            let asking = try make([.privateKeyUsage, .userPresence], permanent: false)
            let user = try rooms.user([.cancel, .cancel])
            defer { user.leave() }
            let cancelled = sign(asking)
            #expect(cancelled.isCancelled && cancelled.signature == nil)
            // The older function has no domain, so it returns a status.
            let digest = Array(SHA256.hash(data: Self.message))
            var (signature, length) = ([UInt8](repeating: 0, count: 80), 80)
            #expect(SecKeyRawSign(asking, .PKCS1, digest, digest.count, &signature, &length) == errSecUserCanceled)
            #expect(user.requests.count == 2)
        }

        @Test("The protection, value and token of a key cannot be changed") func attributesOfAKeyCannotBeChanged() throws {
            _ = try make()
            let query = [kSecClass: kSecClassKey, kSecAttrApplicationTag: tag] as CFDictionary
            for change in [
                [kSecAttrAccessible: kSecAttrAccessibleAlways], [kSecValueData: Data(count: 8)], [kSecAttrTokenID: "another"],
                [kSecAttrAccessControl: try control([])],
            ] as [[CFString: Any]] {
                #expect(SecItemUpdate(query, change as CFDictionary) == errSecParam)
            }
            #expect(SecItemUpdate(query, [kSecAttrLabel: "mine"] as CFDictionary) == errSecSuccess)
            #expect(try isRight(sign(try reference()).signature, try reference()))
            // Claiming to be one does not make an item one.
            let forged: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecAttrApplicationTag: tag,
                kSecAttrApplicationLabel: Data(count: 20), kSecValueData: Data(count: 97),
            ]
            #expect(SecItemAdd(forged as CFDictionary, nil) == errSecParam)
        }

        @Test("A permanent public key is stored") func permanentPublicKeyIsStored() throws {
            var wanted = try #require(parameters(try control([.privateKeyUsage, .userPresence])) as? [CFString: Any])
            wanted[kSecPublicKeyAttrs] = [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag] as [CFString: Any]
            var error: Unmanaged<CFError>?
            let key = try #require(SecKeyCreateRandomKey(wanted as CFDictionary, &error))
            var found: CFTypeRef?
            let query: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecAttrKeyClass: kSecAttrKeyClassPublic, kSecReturnRef: true,
            ]
            #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
            let half = try #require(found as? SecKey)
            #expect(
                SecKeyCopyExternalRepresentation(half, nil) as Data?
                    == SecKeyCopyPublicKey(key).flatMap { SecKeyCopyExternalRepresentation($0, nil) as Data? })
            #expect(try reference() == key)
        }

        @Test("A key of the enclave cannot be synchronizable") func enclaveKeyIsNotSynchronizable() throws {
            let key = try make(permanent: false)
            #expect(
                SecItemAdd([kSecValueRef: key, kSecAttrApplicationTag: tag, kSecAttrSynchronizable: true] as CFDictionary, nil)
                    == errSecParam)
            _ = try make()
            let query = [kSecClass: kSecClassKey, kSecAttrApplicationTag: tag] as CFDictionary
            #expect(SecItemUpdate(query, [kSecAttrSynchronizable: true] as CFDictionary) == errSecParam)
        }

        @Test("A transient key is stored only on request") func transientKeyIsStoredOnlyOnRequest() throws {
            let key = try make(permanent: false)
            #expect(find().status == errSecItemNotFound)
            #expect(try isRight(sign(key).signature, key))
            #expect(SecItemAdd([kSecValueRef: key, kSecAttrApplicationTag: tag] as CFDictionary, nil) == errSecSuccess)
            #expect(try isRight(sign(try reference()).signature, key))
        }

        @Test("An application password authorizes the key that requires it", .proves("C-086"))
        func applicationPasswordAuthorizesItsKey() throws {
            let context = LAContext()
            #expect(context.setCredential(Data("of the application".utf8), type: .applicationPassword))
            let wanted: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
                kSecUseAuthenticationContext: context,
                kSecPrivateKeyAttrs: [
                    kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag,
                    kSecAttrAccessControl: try control([.privateKeyUsage, .applicationPassword]),
                ] as [CFString: Any],
            ]
            let key = try #require(SecKeyCreateRandomKey(wanted as CFDictionary, nil))
            #expect(try isRight(sign(key).signature, key))
            let silent = LAContext()
            silent.interactionNotAllowed = true
            #expect(sign(try reference(silent)).status == errSecInteractionNotAllowed)
            let wrong = LAContext()
            #expect(wrong.setCredential(Data("of another".utf8), type: .applicationPassword))
            #expect(sign(try reference(wrong)).status == errSecAuthFailed)
        }

        @Test("A lock closes keys that are open") func lockClosesOpenKeys() throws {
            let key = try make()
            #expect(try isRight(sign(key).signature, key))
            try rooms.authentication.lock()
            #expect(sign(key).status == errSecInteractionNotAllowed)
            try rooms.unlock()
            #expect(try isRight(sign(key).signature, key))
        }

        /// Each of many threads uses many keys, more than one connection keeps open.
        @Test("Many threads use more keys than a connection keeps open") func manyThreadsUseManyKeys() throws {
            let keys = try (1...40).map { _ in try make(permanent: false) }
            let workers = (0..<6).map { worker in
                Running { () -> Int in
                    (0..<80).count { round in
                        let key = keys[(worker * 7 + round) % keys.count]
                        var signed = sign(key)
                        // A halted machine may leave a call unanswered.
                        if signed.status == errSecNotAvailable { signed = sign(key) }
                        return (try? isRight(signed.signature, key)) ?? false
                    }
                }
            }
            for worker in workers { #expect(try worker.value() == 80) }
        }
    }
}
