// Persisted rights: their keys and secrets from the library to the enclave and back, through Apple's API.

import Foundation
import Glibc
import LocalAuthentication
import Security
import Synchronization
import TestSupport
import Testing
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanUserModel

extension AppleNames {
    @Suite("Stored rights")
    struct KeptRightTests {
        let rooms: Rooms
        let identifier = "right-\(UUID().uuidString)"
        private let store = LARightStore.shared
        private let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
        private let encryption = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM

        init() throws { rooms = try SharedRooms.use() }

        /// Returns the code of an error of any domain; nil if there was none.
        private func code(_ body: () async throws -> Void) async -> Int? {
            do {
                try await body()
                return nil
            } catch {
                return (error as NSError).code
            }
        }

        private let notAuthorized = LAError.Code.authenticationFailed.rawValue
        private let notFound = Int(errSecItemNotFound)

        private func keys(_ more: [CFString: Any] = [:]) -> [[String: Any]] {
            let query: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: Data("app.vauban.right:\(identifier)".utf8), kSecReturnAttributes: true,
                kSecMatchLimit: kSecMatchLimitAll,
            ]
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query.merging(more) { $1 } as CFDictionary, &found)
            return status == errSecSuccess ? found as? [[String: Any]] ?? [] : []
        }

        private var record: [CFString: Any] {
            [kSecClass: kSecClassGenericPassword, kSecAttrService: "app.vauban.right", kSecAttrAccount: identifier]
        }

        private static let requirements: [(LAAuthenticationRequirement, SecAccessControlCreateFlags)] = [
            (.default, .userPresence), (.biometry, .biometryAny),
            (.biometry(fallback: .devicePasscode), [.biometryAny, .or, .devicePasscode]),
        ]

        /// A right is a key of the enclave with the right's requirement, and never changes.
        @Test(
            "A saved right is a key of the enclave with the right's requirement",
            .proves("C-199", "C-200", "C-201", "C-202", "C-203", "C-204", "C-205"), arguments: requirements)
        func savedRightIsAnEnclaveKey(_ requirement: LAAuthenticationRequirement, _ flags: SecAccessControlCreateFlags)
            async throws
        {
            let right = LARight(requirement: requirement)
            right.tag = -7
            let saved = try await store.saveRight(right, identifier: identifier)
            #expect(saved.state == .unknown && saved.tag == -7)
            let found = try #require(keys().first)
            #expect(keys().count == 1 && found[kSecAttrTokenID as String] as? String == kSecAttrTokenIDSecureEnclave as String)
            let expected = SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, flags.union(.privateKeyUsage), nil)
            #expect(found[kSecAttrAccessControl as String] as? SecAccessControl == expected)
            let bytes = try await saved.key.publicKey.bytes
            #expect(bytes.count == 65)
            // An existing right is never replaced, with the same or another requirement.
            #expect(await code { _ = try await store.saveRight(right, identifier: identifier) } == Int(errSecDuplicateItem))
            #expect(
                await code { _ = try await store.saveRight(LARight(), identifier: identifier, secret: Data()) } == Int(errSecDuplicateItem))
            let again = try await store.right(forIdentifier: identifier)
            #expect(try await again.key.publicKey.bytes == bytes && again.tag == -7 && keys().count == 1)
            // Each has its own key.
            let other = try await store.saveRight(again, identifier: identifier + " too")
            #expect(try await other.key.publicKey.bytes != bytes)
            try await store.removeRight(other)
            try await store.removeRight(saved)
            #expect(await code { _ = try await store.right(forIdentifier: identifier) } == notFound)
            #expect(await code { _ = try await store.saveRight(right, identifier: "") } == Int(errSecParam))
        }

        /// The private key cannot be exported in any form, and is of a class that never leaves this device.
        @Test("The key of a saved right cannot be exported and never leaves this device", .provesEquivalent("C-207"))
        func keyOfASavedRightCannotBeExported() async throws {
            _ = try await store.saveRight(LARight(), identifier: identifier)
            let attributes = try #require(keys().first)
            #expect(attributes[kSecAttrAccessible as String] as? String == kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String)
            var found: CFTypeRef?
            let query: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: Data("app.vauban.right:\(identifier)".utf8), kSecReturnRef: true,
            ]
            #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
            let key = try #require(found as? SecKey)
            #expect(SecKeyCopyExternalRepresentation(key, nil) == nil)
            try await store.removeRight(forIdentifier: identifier)
            try MemoryScanTests.expectSentences(["a right's key and secret are useless on another installation"])
        }

        /// Every private operation once before, during and after the authorization; only `authorize` prompts.
        @Test(
            "Operations with the private key need the authorization; those with the public key do not",
            .proves("C-175", "C-188", "C-208", "C-209", "C-210", "C-211"))
        func privateOperationsNeedTheAuthorizationAndPublicOnesDoNot() async throws {
            let right = try await store.saveRight(LARight(requirement: .default), identifier: identifier)
            let user = try rooms.user([.passcode(Rooms.passcode)])
            defer { user.leave() }
            let (key, message) = (right.key, Data("to be signed".utf8))
            let sealed = try await key.publicKey.encrypt(message, algorithm: encryption)
            let peer = try #require(
                SecKeyCreateRandomKey(
                    [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256] as [CFString: Any] as CFDictionary, nil))
            let peerBytes = try #require(SecKeyCopyPublicKey(peer).flatMap { SecKeyCopyExternalRepresentation($0, nil) as Data? })
            let exchange = SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256
            let parameters: [AnyHashable: Any] = [SecKeyKeyExchangeParameter.requestedSize.rawValue: 24, "sharedInfo": Data([1, 2])]
            let refused: () async -> [Int?] = {
                [
                    await code { _ = try await key.sign(message, algorithm: algorithm) },
                    await code { _ = try await key.decrypt(sealed, algorithm: encryption) },
                    await code { _ = try await key.exchangeKeys(publicKey: peerBytes, algorithm: exchange, parameters: [:]) },
                ]
            }
            #expect(await refused() == [notAuthorized, notAuthorized, notAuthorized])
            #expect(user.requests.isEmpty)
            try await right.authorize(localizedReason: "sign")
            for _ in 1...3 {
                let signature = try await key.sign(message, algorithm: algorithm)
                try await key.publicKey.verify(message, signature: signature, algorithm: algorithm)
                #expect(
                    await code { try await key.publicKey.verify(message + [0], signature: signature, algorithm: algorithm) }
                        == Int(errSecVerifyFailed))
            }
            #expect(try await key.decrypt(sealed, algorithm: encryption) == message)
            let mine = try await key.exchangeKeys(publicKey: peerBytes, algorithm: exchange, parameters: parameters)
            let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic]
            let ours = try #require(SecKeyCreateWithData(try await key.publicKey.bytes as CFData, attributes as CFDictionary, nil))
            let theirs: [CFString: Any] = ["requestedSize": 24, "sharedInfo": Data([1, 2])]
            #expect(SecKeyCopyKeyExchangeResult(peer, exchange, ours, theirs as CFDictionary, nil) as Data? == mine && mine.count == 24)
            #expect(await code { _ = try await key.sign(message, algorithm: .rsaSignatureMessagePSSSHA256) } == Int(errSecParam))
            #expect(key.canSign(using: algorithm) && key.canDecrypt(using: encryption) && key.canExchangeKeys(using: exchange))
            #expect(!key.canSign(using: encryption) && !key.canSign(using: .rsaSignatureMessagePSSSHA256))
            #expect(
                key.publicKey.canVerify(using: algorithm) && key.publicKey.canEncrypt(using: encryption)
                    && !key.publicKey.canEncrypt(using: algorithm))
            // Another instance of the same right is not authorized.
            let other = try await store.right(forIdentifier: identifier)
            #expect(await code { _ = try await other.key.sign(message, algorithm: algorithm) } == notAuthorized)
            await right.deauthorize()
            #expect(await refused() == [notAuthorized, notAuthorized, notAuthorized])
            #expect(user.requests.map(\.reason) == ["sign"])
            try await store.removeRight(right)
        }

        @Test("A lock deauthorizes a right, and its next operation fails", .proves("C-208", "C-213"))
        func lockDeauthorizesARightAndItsNextOperationFails() async throws {
            let right = try await store.saveRight(LARight(), identifier: identifier, secret: Data("s".utf8))
            let user = try rooms.user([.passcode(Rooms.passcode), .passcode(Rooms.passcode)])
            defer { user.leave() }
            try await right.authorize(localizedReason: "one")
            let states = right.states
            try rooms.authentication.lock()
            #expect(right.state == .authorized)
            #expect(await code { _ = try await right.secret.rawData } == notAuthorized)
            #expect(right.state == .notAuthorized)
            #expect(await code { _ = try await store.right(forIdentifier: identifier) } == Int(errSecInteractionNotAllowed))
            try rooms.unlock()
            #expect(await code { _ = try await right.secret.rawData } == notAuthorized)
            try await right.authorize(localizedReason: "two")
            #expect(try await right.secret.rawData == Data("s".utf8))
            #expect(user.requests.map(\.reason) == ["one", "two"])
            var seen: [LARight.State] = []
            for await state in states {
                seen.append(state)
                if seen.count == 4 { break }
            }
            #expect(seen == [.authorized, .notAuthorized, .authorizing, .authorized])
            try await store.removeRight(right)
        }

        /// An authorization ends with its connection; the key outlives the room that ended.
        @Test("A restart of a room deauthorizes a right and keeps its key")
        func roomRestartDeauthorizesARightAndKeepsItsKey() async throws {
            let right = try await store.saveRight(LARight(), identifier: identifier)
            let user = try rooms.user([.passcode(Rooms.passcode)])
            defer { user.leave() }
            try await right.authorize(localizedReason: "one")
            try rooms.killAndAwait("keychaind")
            _ = try await right.key.sign(Data(), algorithm: algorithm)
            #expect(right.state == .authorized)
            try rooms.killAndAwait("authd")
            // The enclave notices the end by itself.
            for _ in 1...10_000 where right.state == .authorized { _ = try? await right.key.sign(Data(), algorithm: algorithm) }
            #expect(right.state == .notAuthorized)
            let other = try rooms.user([.passcode(Rooms.passcode)])
            defer { other.leave() }
            try await right.authorize(localizedReason: "two")
            _ = try await right.key.sign(Data(), algorithm: algorithm)
            try await store.removeRight(right)
        }

        @Test("Another process authorizes the same right separately", .proves("C-206"))
        func anotherProcessAuthorizesTheSameRightSeparately() async throws {
            let right = LARight()
            right.tag = 12
            let publicKey = try await store.saveRight(right, identifier: identifier).key.publicKey
            let user = try rooms.user([.passcode(Rooms.passcode)])
            defer { user.leave() }
            let program = Process()
            program.executableURL = URL(fileURLWithPath: "\(Rooms.programs)/keychain-caller")
            program.arguments = ["right", identifier]
            let output = Pipe()
            program.standardOutput = output
            try program.run()
            program.waitUntilExit()
            let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(
                whereSeparator: \.isWhitespace)
            #expect(said.prefix(2) == ["unknown", "12"] && said.count == 3)
            let signature = try #require(said.last.flatMap { Data(base64Encoded: String($0)) })
            try await publicKey.verify(Data(identifier.utf8), signature: signature, algorithm: algorithm)
            #expect(user.requests.map(\.reason) == ["another run"])
            try await store.removeRight(forIdentifier: identifier)
        }

        /// One secret, created with the right, that opens with its key alone.
        @Test("The secret of a right opens only while the right is authorized", .proves("C-212", "C-213"))
        func secretOpensOnlyWhileTheRightIsAuthorized() async throws {
            let kept = Data("the only secret".utf8)
            let right = try await store.saveRight(LARight(requirement: .default), identifier: identifier, secret: kept)
            #expect(await code { _ = try await right.secret.rawData } == notAuthorized)
            #expect(
                await code { _ = try await store.saveRight(LARight(), identifier: identifier, secret: Data("another".utf8)) }
                    == Int(errSecDuplicateItem))
            // Reading the record without the right yields data that only the key decrypts.
            var found: CFTypeRef?
            #expect(SecItemCopyMatching(record.merging([kSecReturnData: true]) { $1 } as CFDictionary, &found) == errSecSuccess)
            let stored = try #require(found as? Data)
            #expect(stored.count > kept.count + 64 && stored.range(of: kept) == nil)
            let user = try rooms.user([.cancel, .passcode(Rooms.passcode)])
            defer { user.leave() }
            #expect(await code { try await right.authorize(localizedReason: "open") } == LAError.Code.userCancel.rawValue)
            #expect(await code { _ = try await right.secret.rawData } == notAuthorized)
            try await right.authorize(localizedReason: "open")
            for _ in 1...2 { #expect(try await right.secret.rawData == kept) }
            try await store.removeRight(right)
            #expect(right.state == .notAuthorized)
            // No secret was saved: the error states that, with and without the authorization.
            let without = try await store.saveRight(LARight(), identifier: identifier)
            #expect(await code { _ = try await without.secret.rawData } == notFound)
            try await store.removeRight(without)
            let empty = try await store.saveRight(LARight(), identifier: identifier, secret: Data())
            #expect(await code { _ = try await empty.secret.rawData } == notAuthorized)
            try await store.removeRight(empty)
        }

        /// Removing it by name ends its authorizations everywhere in this process.
        @Test("A removed right cannot be authorized, and its authorizations end") func removedRightCannotBeAuthorized() async throws {
            let user = try rooms.user([.passcode(Rooms.passcode), .passcode(Rooms.passcode)])
            defer { user.leave() }
            for removal in [{ try await store.removeRight(forIdentifier: $0) }, { _ in try await store.removeAllRights() }]
                as [(String) async throws -> Void]
            {
                let right = try await store.saveRight(LARight(), identifier: identifier, secret: Data("s".utf8))
                try await right.authorize(localizedReason: "read")
                #expect(try await right.secret.rawData == Data("s".utf8))
                try await removal(identifier)
                #expect(right.state == .notAuthorized)
                #expect(await code { _ = try await right.secret.rawData } == notAuthorized)
                #expect(await code { _ = try await right.key.sign(Data(), algorithm: algorithm) } == notAuthorized)
            }
        }

        @Test("Removing a right erases only its key and its secret") func removingARightErasesOnlyItsKeyAndSecret() async throws {
            let item: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: identifier, kSecValueData: Data("stays".utf8),
            ]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let first = try await store.saveRight(LARight(), identifier: identifier, secret: Data("s".utf8))
            try await store.removeRight(forIdentifier: identifier)
            #expect(keys().isEmpty && SecItemCopyMatching(record as CFDictionary, nil) == errSecItemNotFound)
            #expect(await code { try await store.removeRight(forIdentifier: identifier) } == notFound)
            #expect(await code { try await store.removeRight(first) } == notFound)
            #expect(await code { try await first.checkCanAuthorize() } != nil)
            // A later right under the same identifier is another right.
            let second = try await store.saveRight(LARight(), identifier: identifier)
            #expect(await code { try await store.removeRight(first) } == notFound)
            #expect(try await store.right(forIdentifier: identifier).key.publicKey.bytes == second.key.publicKey.bytes)
            _ = try await store.saveRight(LARight(), identifier: identifier + " too", secret: Data())
            try await store.removeAllRights()
            try await store.removeAllRights()
            #expect(keys().isEmpty && SecItemCopyMatching(record as CFDictionary, nil) == errSecItemNotFound)
            #expect(await code { _ = try await store.right(forIdentifier: identifier + " too") } == notFound)
            #expect(
                SecItemDelete([kSecClass: kSecClassGenericPassword, kSecAttrService: identifier] as [CFString: Any] as CFDictionary)
                    == errSecSuccess)
        }

        /// The key is written first and the record last: a kill in between leaves a key without a right.
        @Test("An incomplete right is ignored and can be replaced") func incompleteRightIsIgnoredAndCanBeReplaced() async throws {
            _ = try await store.saveRight(LARight(), identifier: identifier, secret: Data("s".utf8))
            #expect(SecItemDelete(record as CFDictionary) == errSecSuccess)
            #expect(keys().count == 1)
            #expect(await code { _ = try await store.right(forIdentifier: identifier) } == notFound)
            let right = try await store.saveRight(LARight(), identifier: identifier)
            #expect(keys().count == 1)
            // The reverse: the record of a right whose key was deleted.
            #expect(
                SecItemDelete(
                    [kSecClass: kSecClassKey, kSecAttrApplicationTag: Data("app.vauban.right:\(identifier)".utf8)] as [CFString: Any]
                        as CFDictionary) == errSecSuccess)
            #expect(await code { _ = try await store.right(forIdentifier: identifier) } == notFound)
            #expect(await code { try await right.authorize(localizedReason: "open") } == notFound)
            _ = try await store.saveRight(LARight(), identifier: identifier)
            #expect(keys().count == 1)
            try await store.removeRight(forIdentifier: identifier)
        }

        /// A program that saves and removes rights is killed at any moment: every right found then is complete, and leftovers do not
        /// matter.
        @Test("A kill leaves a complete right or none") func killLeavesACompleteRightOrNone() async throws {
            let user = try rooms.user(Array(repeating: .passcode(Rooms.passcode), count: 64))
            defer { user.leave() }
            var found = 0
            for round in 0..<8 {
                let program = Process()
                program.executableURL = URL(fileURLWithPath: "\(Rooms.programs)/keychain-caller")
                program.arguments = ["rights", identifier]
                let output = Pipe()
                program.standardOutput = output
                try program.run()
                #expect(try output.fileHandleForReading.read(upToCount: 6) == Data("begun\n".utf8))
                // Spread over one round of the program.
                let moment = MachineClock.monotonic + UInt64(round) * 1_700_000
                while MachineClock.monotonic < moment { sched_yield() }
                kill(program.processIdentifier, SIGKILL)
                program.waitUntilExit()
                for number in 0..<4 {
                    let one = "\(identifier)-\(number)"
                    if let right = try? await store.right(forIdentifier: one) {
                        found += 1
                        try await right.authorize(localizedReason: "look")
                        #expect(try await right.secret.rawData == Data(one.utf8))
                        try await store.removeRight(right)
                    }
                    try await store.removeRight(store.saveRight(LARight(), identifier: one))
                }
            }
            #expect(found > 0)
            // The program's keys were removed with its rights, including those without a record.
            var keys: CFTypeRef?
            let query: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecReturnAttributes: true,
                kSecMatchLimit: kSecMatchLimitAll,
            ]
            _ = SecItemCopyMatching(query as CFDictionary, &keys)
            let left = (keys as? [[String: Any]] ?? []).compactMap { $0[kSecAttrApplicationTag as String] as? Data }
            #expect(!left.contains { $0.starts(with: Data("app.vauban.right:\(identifier)".utf8)) })
        }

        /// Of many that save under one identifier, one succeeds, and its key exists.
        @Test("Of many concurrent saves under one identifier, one succeeds") func oneOfManyConcurrentSavesSucceeds() async throws {
            let bytes = await withTaskGroup(of: Data?.self) { group in
                for _ in 1...8 { group.addTask { try? await store.saveRight(LARight(), identifier: identifier).key.publicKey.bytes } }
                return await group.reduce(into: [Data]()) { if let bytes = $1 { $0.append(bytes) } }
            }
            #expect(bytes.count == 1)
            #expect(try await store.right(forIdentifier: identifier).key.publicKey.bytes == bytes.first)
            try await store.removeRight(forIdentifier: identifier)
        }
    }
}
