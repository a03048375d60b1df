// The Swift API from end to end: this process, keychaind, enclaved, the disk, and the user if an item requires them.

import Foundation
import Glibc
import Security
import TestSupport
import Testing
import VaubanAuthenticationClient
import VaubanKeychain
import VaubanLinuxHost

extension AppleNames {
    @Suite("VaubanKeychain")
    struct VaubanKeychainTests {
        let rooms: Rooms
        let keychain = VaubanKeychain.Keychain()
        let name: GenericPassword

        init() throws {
            rooms = try SharedRooms.use()
            name = GenericPassword(service: "native-\(UUID().uuidString)", account: "anna")
        }

        private func text(_ name: some PasswordName, _ authentication: Authentication = .allowed) async throws -> String? {
            guard let secret = try await keychain.secret(for: name, authentication: authentication) else { return nil }
            return secret.text()
        }

        /// Returns why a call failed; nil if it did not, or not with an error of the keychain.
        private func reason(_ body: () async throws -> Void) async -> KeychainError.Reason? {
            do {
                try await body()
                return nil
            } catch { return (error as? KeychainError)?.reason }
        }

        /// Returns the attributes of the same item through Apple's API.
        private func attributes(_ name: GenericPassword) throws -> [String: Any] {
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: name.service,
                kSecAttrAccount as String: name.account,
                kSecReturnAttributes as String: true,
            ]
            var result: AnyObject?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            return try #require(result as? [String: Any])
        }

        @Test("A secret is stored, read, changed and removed", .proves("C-026"))
        func secretIsStoredReadChangedAndRemoved() async throws {
            #expect(try await text(name) == nil)
            #expect(try await !keychain.contains(name))
            try await keychain.set(Secret(utf8: "pässwörd"), for: name)
            #expect(try await text(name) == "pässwörd")
            #expect(try await keychain.contains(name))
            try await keychain.set(Secret(utf8: "another"), for: name)
            #expect(try await text(name) == "another")
            #expect(try await keychain.remove(name))
            #expect(try await !keychain.remove(name))
            #expect(try await text(name) == nil)
            try await keychain.set(Secret(utf8: ""), for: name)
            #expect(try await text(name) == "")
            let bytes = try Secret(randomBytes: 100_000)
            try await keychain.set(bytes, for: name)
            var isEqual = false
            if let read = try await keychain.secret(for: name) { isEqual = read.equals(bytes) }
            #expect(isEqual)
        }

        @Test("Each failure has a reason of its own", .proves("C-026"))
        func eachFailureHasAReason() async throws {
            try await keychain.add(Secret(utf8: "one"), for: name)
            #expect(await reason { try await keychain.add(Secret(utf8: "two"), for: name) } == .duplicate)
            #expect(try await text(name) == "one")
            let missing = GenericPassword(service: name.service, account: "nobody")
            #expect(await reason { try await keychain.update(missing, attributes: ItemAttributes(label: "x")) } == .notFound)
            let large = Secret(count: 1 << 21) { _ in }
            #expect(await reason { try await keychain.set(large, for: name) } == .tooLarge)
            let internet = InternetPassword(server: name.service, account: "anna")
            let generic = ItemAttributes(genericData: Data([1]))
            #expect(await reason { try await keychain.set(Secret(utf8: "x"), for: internet, attributes: generic) } == .invalid)
            let foreign = VaubanKeychain.Keychain(accessGroup: "vauban.permissions")
            #expect(await reason { _ = try await foreign.secret(for: name) } == .missingEntitlement)
            let nonsense = Protection(.whenUnlocked, requiring: AccessControl([.presence, .passcode]))
            #expect(await reason { try await keychain.set(Secret(utf8: "x"), for: missing, protection: nonsense) } == .invalid)
        }

        @Test("A change keeps the attributes that it does not mention", .proves("C-026"))
        func unmentionedAttributesAreKept() async throws {
            let first = ItemAttributes(label: "Mail", kind: "token", comment: "for tests", genericData: Data([0, 255]))
            try await keychain.set(Secret(utf8: "one"), for: name, attributes: first, protection: .afterFirstUnlock)
            let added = try #require(try await keychain.item(for: name))
            #expect(added.name == name)
            #expect(added.attributes == first)
            #expect(added.accessibility == .afterFirstUnlock)
            try await keychain.set(Secret(utf8: "two"), for: name, attributes: ItemAttributes(comment: "changed"))
            let changed = try #require(try await keychain.item(for: name))
            #expect(changed.attributes == ItemAttributes(label: "Mail", kind: "token", comment: "changed", genericData: Data([0, 255])))
            // Only a call with a protection changes it.
            #expect(changed.accessibility == .afterFirstUnlock)
            #expect(changed.created == added.created)
            #expect(try #require(changed.modified) > (try #require(added.modified)))
            try await keychain.update(name, protection: .whenUnlocked)
            #expect(try await keychain.item(for: name)?.accessibility == .whenUnlocked)
            #expect(try await text(name) == "two")
            #expect(try attributes(name)[kSecAttrLabel as String] as? String == "Mail")
        }

        @Test("A search finds items by the attributes that it names", .proves("C-026"))
        func searchFindsByItsAttributes() async throws {
            for account in ["a", "b", "c"] {
                let one = GenericPassword(service: name.service, account: account)
                try await keychain.set(Secret(utf8: account), for: one, attributes: ItemAttributes(label: account == "b" ? "even" : "odd"))
            }
            let all = try await keychain.items(matching: GenericPassword.Query(service: name.service))
            #expect(Set(all.map(\.name.account)) == ["a", "b", "c"])
            let odd = try await keychain.items(matching: GenericPassword.Query(service: name.service, label: "odd"))
            #expect(Set(odd.map(\.name.account)) == ["a", "c"])
            #expect(try await keychain.removeAll(matching: GenericPassword.Query(service: name.service, label: "odd")))
            #expect(try await keychain.items(matching: GenericPassword.Query(service: name.service)).map(\.name.account) == ["b"])
            #expect(try await keychain.items(matching: GenericPassword.Query(service: "no such service")).isEmpty)
        }

        /// An omitted part of a name does not match any value: setting one password changes no other.
        @Test("An Internet password is identified by all its parts") func internetPasswordIsIdentifiedByAllItsParts() async throws {
            let server = "\(name.service).example.org"
            let names = [
                InternetPassword(server: server, account: "me"),
                InternetPassword(server: server, account: "me", port: 8443),
                InternetPassword(server: server, account: "me", scheme: .https, path: "/admin"),
                InternetPassword(server: server, account: "me", securityDomain: "realm"),
            ]
            for (number, name) in names.enumerated() { try await keychain.set(Secret(utf8: "first \(number)"), for: name) }
            try await keychain.set(Secret(utf8: "changed"), for: names[0])
            #expect(try await text(names[0]) == "changed")
            for number in 1..<names.count { #expect(try await text(names[number]) == "first \(number)") }
            let found = try await keychain.items(matching: InternetPassword.Query(server: server))
            #expect(Set(found.map(\.name)) == Set(names))
            #expect(try await keychain.items(matching: InternetPassword.Query(server: server, port: 8443)).map(\.name) == [names[1]])
        }

        /// Items of programs that use Apple's API have the same names, even if those programs omitted parts.
        @Test("Items of programs that use Apple's API are the same items", .proves("C-026"))
        func itemsOfTheSecItemAPIAreTheSameItems() async throws {
            let server = "\(name.service).example.org"
            let plain: [String: Any] = [
                kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: server, kSecAttrAccount as String: "me",
                kSecValueData as String: Data("theirs".utf8),
            ]
            #expect(SecItemAdd(plain as CFDictionary, nil) == errSecSuccess)
            let internet = InternetPassword(server: server, account: "me")
            #expect(try await text(internet) == "theirs")
            #expect(try await keychain.item(for: internet)?.name == internet)
            try await keychain.set(Secret(utf8: "ours"), for: internet)
            #expect(try await keychain.items(matching: InternetPassword.Query(server: server)).count == 1)
            let generic: [String: Any] = [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: name.service]
            #expect(SecItemAdd(generic as CFDictionary, nil) == errSecSuccess)
            let nameless = GenericPassword(service: name.service, account: "")
            #expect(try await keychain.items(matching: GenericPassword.Query(service: name.service)).map(\.name) == [nameless])
            #expect(await reason { try await keychain.add(Secret(utf8: "x"), for: nameless) } == .duplicate)
        }

        /// An application reads a secret through the real rooms, uses it and releases it: afterwards it is nowhere in memory.
        @Test("A secret is held in memory no longer than its scope", .proves("C-024"))
        func aSecretIsHeldNoLongerThanItsScope() async throws {
            let needle = try await keepRandomSecret()
            try await { () async throws in
                let read = try await keychain.secret(for: name)
                guard let read else { throw SystemError("read what was kept", code: ENOENT) }
                // The search works: while the secret is held, it is found.
                #expect(try !needle.placesInOwnMemory().isEmpty)
                let count = read.count
                #expect(count == HiddenNeedle.secretBytesMin)
            }()
            let places = try needle.placesInOwnMemory()
            #expect(places.isEmpty, "\(places)")
            let files = try needle.files(under: rooms.home)
            #expect(files.with.isEmpty && files.read > 5, "\(files)")
        }

        /// Stores a random secret under the name; the test itself keeps nothing of it that could be found.
        private func keepRandomSecret() async throws -> HiddenNeedle {
            let secret = try Secret(randomBytes: HiddenNeedle.secretBytesMin)
            try await keychain.set(secret, for: name)
            return secret.withUnsafeBytes { HiddenNeedle(within: $0) }
        }

        /// Everything that an application stores is in its item, and nowhere else.
        @Test("Every kind of secret of an application can be stored, and is found nowhere else", .proves("C-027"))
        func everyKindOfApplicationSecretCanBeStored() async throws {
            let server = InternetPassword(server: "\(name.service).example.org", account: "me", scheme: .https)
            let kinds: [(any PasswordName & Sendable, ItemAttributes)] = [
                (name, ItemAttributes(kind: "application password")),
                (GenericPassword(service: name.service, account: "token"), ItemAttributes(kind: "token")),
                (GenericPassword(service: name.service, account: "note"), ItemAttributes(kind: "secure note")),
                (GenericPassword(service: name.service, account: "key of a large file"), ItemAttributes(kind: "key")),
                (server, ItemAttributes()),
            ]
            for (name, attributes) in kinds {
                let secret = try Secret(randomBytes: HiddenNeedle.secretBytesMin)
                try await keychain.set(secret, for: name, attributes: attributes)
                let read = try await keychain.secret(for: name)
                guard let read else { throw SystemError("read what was kept", code: ENOENT) }
                let (isEqual, needle) = (read.equals(secret), secret.withUnsafeBytes { HiddenNeedle(within: $0) })
                #expect(isEqual)
                let files = try needle.files(under: rooms.home)
                #expect(files.with.isEmpty && files.read > 5, "\(files)")
            }
            // Keys and certificates have their own classes, where Apple's API finds them.
            let tag = Data(name.service.utf8)
            let key: [String: Any] = [
                kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: tag,
                kSecValueData as String: Data("a private key".utf8),
            ]
            #expect(SecItemAdd(key as CFDictionary, nil) == errSecSuccess)
            var result: AnyObject?
            let query: [String: Any] = [
                kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: tag, kSecReturnData as String: true,
            ]
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            #expect(result as? Data == Data("a private key".utf8))
            #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
        }

        /// Returns the result of a call, which is made again, at most twice, if a halted machine left it unanswered.
        private func repeatedIfUnanswered<Value>(_ call: () async throws -> Value) async throws -> Value {
            func isUnanswered(_ error: KeychainError) -> Bool { error.reason == .unavailable && error.message.contains("not answer") }
            for _ in 0..<2 {
                do { return try await call() } catch let error as KeychainError where isUnanswered(error) {}
            }
            return try await call()
        }

        @Test("Hundreds of concurrent calls all end") func manyCallsAtOnceAllEnd() async throws {
            try await keychain.set(Secret(utf8: "shared"), for: name)
            let good = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<300 {
                    group.addTask {
                        let own = GenericPassword(service: name.service, account: "\(number)")
                        do {
                            try await repeatedIfUnanswered { try await keychain.set(Secret(utf8: "\(number)"), for: own) }
                            let mine = try await repeatedIfUnanswered { try await text(own) }
                            let shared = try await repeatedIfUnanswered { try await text(name) }
                            return mine == "\(number)" && shared == "shared"
                        } catch {
                            Issue.record(error)
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(good == 300)
        }
    }
}
