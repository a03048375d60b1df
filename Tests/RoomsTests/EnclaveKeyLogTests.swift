// Signatures by the enclave's keys in the access log, through Apple's API and the real rooms.

import Crypto
import Foundation
import Security
import TestSupport
import Testing
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost

extension AppleNames {
    @Suite("Keys of the enclave in the access log")
    struct EnclaveKeyLogTests {
        let rooms: Rooms
        private let tag = "app.example.logged.\(UUID().uuidString)"

        init() throws { rooms = try SharedRooms.use() }

        private func make(_ flags: SecAccessControlCreateFlags) throws -> SecKey {
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags, nil))
            let parameters =
                [
                    kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                    kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecAttrLabel: tag,
                    kSecPrivateKeyAttrs: [
                        kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data(tag.utf8), kSecAttrAccessControl: control,
                    ] as [CFString: Any],
                ] as [CFString: Any]
            return try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
        }

        private func sign(_ key: SecKey) -> Bool {
            SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, Data("a message".utf8) as CFData, nil) != nil
        }

        /// Has the new keychaind learn the item of the key, which it does at a request for the item. If it writes the uses before it has
        /// served that request, they contain only the name of the key.
        private func find() {
            let query = [kSecClass: kSecClassKey, kSecAttrApplicationTag: Data(tag.utf8), kSecReturnRef: true] as [CFString: Any]
            var found: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
        }

        /// Returns the name that the log has for a key whose item keychaind does not know.
        private func name(of key: SecKey) throws -> String {
            let half = try #require(SecKeyCopyPublicKey(key).flatMap { SecKeyCopyExternalRepresentation($0, nil) as Data? })
            return "private key \(Insecure.SHA1.hash(data: half).map { String(format: "%02x", $0) }.joined())"
        }

        /// Returns how often the log has this use of the key, by its item or, if it is given, by the name of the key.
        private func count(_ action: AccessAction, _ outcome: AccessOutcome, orNamed name: String? = nil) throws -> Int64 {
            let item = try item
            let records = try rooms.keychain.accessLogPage(AccessLogQuery()).records.compactMap(\.record)
            return records.filter { $0.action == action && $0.outcome == outcome }
                .flatMap(\.items).filter { $0.item == item || ($0.item.isEmpty && $0.name == name) }.reduce(0) { $0 + $1.count }
        }

        private var item: [UInt8] {
            get throws {
                var query = ItemQuery(kind: .key, attributes: ItemAttributes([.applicationTag: .data(Array(tag.utf8))]))
                query.returns = .reference
                return try #require(try rooms.keychain.copyMatching(query).first?.reference)
            }
        }

        @Test("Each signature is recorded once in the access log, with the item of its key")
        func eachSignature() throws {
            let key = try make(.privateKeyUsage)
            for _ in 0..<12 { #expect(sign(key)) }
            try awaitTrue("12 signatures in the log") { try count(.signed, .done) == 12 }
            let use = try #require(try rooms.keychain.lastUses(of: item).keyUsed?.record)
            #expect(try use.action == .signed && use.items.map(\.item) == [item])
            #expect(sign(key))
            try awaitTrue("13 signatures in the log") { try count(.signed, .done) == 13 }
        }

        @Test("Signatures that the user approves or declines are recorded with that outcome")
        func outcomes() throws {
            let key = try make([.privateKeyUsage, .devicePasscode])
            let user = try rooms.user([.passcode(Rooms.passcode), .cancel])
            defer { user.leave() }
            #expect(sign(key))
            #expect(!sign(key))
            try awaitTrue("both in the log") { try count(.signed, .approved) == 1 && count(.signed, .notApproved) == 1 }
        }

        @Test("Signatures that were reported to a hung keychaind are recorded by the next one")
        func hang() throws {
            let key = try make(.privateKeyUsage)
            #expect(sign(key))
            try awaitTrue("one signature in the log") { try count(.signed, .done) == 1 }
            let hung = try rooms.process(of: "keychaind")
            try rooms.stop(hung)
            for _ in 0..<5 { #expect(sign(key)) }
            // The enclave waits until its timeout, and ends the connection.
            try rooms.authentication.lock()
            try rooms.killAndAwait("keychaind", hung)
            try rooms.unlock()
            find()
            let name = try name(of: key)
            try awaitTrue("six signatures in the log") { try count(.signed, .done, orNamed: name) == 6 }
        }

        @Test("Signatures made after the end of keychaind are recorded by the next one")
        func restart() throws {
            let key = try make(.privateKeyUsage)
            #expect(sign(key))
            try awaitTrue("one signature in the log") { try count(.signed, .done) == 1 }
            try rooms.killAndAwait("keychaind")
            for _ in 0..<5 { #expect(sign(key)) }
            find()
            let name = try name(of: key)
            try awaitTrue("six signatures in the log") { try count(.signed, .done, orNamed: name) == 6 }
        }
    }
}
