import Foundation
import Security
import TestSupport
import Testing
import VaubanKeychain

@Suite struct NameTests {
    @Test("A name converted to attributes and back is the same name") func nameConvertsToAttributesAndBack() {
        let generic = GenericPassword(service: "s", account: "")
        #expect(GenericPassword(fields: generic.fields) == generic)
        let names = [
            InternetPassword(server: "example.org", account: "a"),
            InternetPassword(server: "example.org", account: "a", scheme: .https, port: 8443, path: "/admin", securityDomain: "realm"),
            InternetPassword(server: "example.org", account: "a", scheme: .init(rawValue: "abcd"), port: 65_535),
        ]
        for name in names { #expect(InternetPassword(fields: name.fields) == name) }
        #expect(Set(names).count == 3)
    }

    @Test("Each status has a reason") func errorsHaveReasons() {
        let meanings: [(Int32, KeychainError.Reason)] = [
            (errSecItemNotFound, .notFound), (errSecDuplicateItem, .duplicate), (errSecInteractionNotAllowed, .interactionNotAllowed),
            (errSecUserCanceled, .cancelled), (errSecAuthFailed, .authenticationFailed), (errSecMissingEntitlement, .missingEntitlement),
            (errSecNotAvailable, .unavailable), (errSecDataTooLarge, .tooLarge), (errSecParam, .invalid), (errSecNoSuchAttr, .invalid),
            (errSecUnimplemented, .unsupported), (errSecDecode, .other),
        ]
        for (status, reason) in meanings {
            let error = KeychainError(status: status)
            #expect(error.reason == reason)
            #expect(!error.message.isEmpty)
            #expect(error.description.hasSuffix("(\(status))"))
            #expect(error.localizedDescription == error.message)
        }
        #expect(KeychainError(status: -1, message: "words").message == "words")
    }
}

/// An application's own wrapper (C-025), and the store that its tests pass to it.
private struct Session<Store: SecretStore> {
    let store: Store
    private let name = GenericPassword(service: "com.example.Mail", account: "anna")

    func signIn(_ token: String) async throws { try await store.set(Secret(utf8: token), for: name, protection: .presence) }
    func token() async throws -> String? {
        guard let secret = try await store.secret(for: name) else { return nil }
        return secret.text()
    }
    func signOut() async throws -> Bool { try await store.remove(name) }
}

@Suite struct InMemorySecretStoreTests {
    @Test("An application's wrapper works with the store in memory") func wrapperWorksWithAnInMemoryStore() async throws {
        let store = InMemorySecretStore()
        let session = Session(store: store)
        #expect(try await session.token() == nil)
        try await session.signIn("one")
        try await session.signIn("two")
        #expect(try await session.token() == "two")
        #expect(await store.lastProtection == .presence)
        #expect(try await session.signOut())
        #expect(try await !session.signOut())
    }

    @Test("The store in memory fails on request") func storeFailsOnRequest() async throws {
        let store = InMemorySecretStore()
        let session = Session(store: store)
        let cancelled = KeychainError(status: errSecUserCanceled)
        await store.fail(with: cancelled)
        await #expect(throws: cancelled) { try await session.token() }
        await store.fail(with: nil)
        #expect(try await session.token() == nil)
    }
}
