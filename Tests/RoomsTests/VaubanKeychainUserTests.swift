// The Swift API for items that require the user, an application password, or an unlocked keychain.

import Foundation
import Synchronization
import TestSupport
import Testing
import struct VaubanUserModel.PromptRequest
import VaubanAuthenticationClient
import VaubanKeychain
import VaubanUserModel

extension AppleNames {
    @Suite("VaubanKeychain and the user")
    struct VaubanKeychainUserTests {
        let rooms: Rooms
        let keychain = VaubanKeychain.Keychain()
        let name: GenericPassword

        init() throws {
            rooms = try SharedRooms.use()
            name = GenericPassword(service: "native-user-\(UUID().uuidString)", account: "anna")
        }

        private func text(_ authentication: Authentication = .allowed, of name: GenericPassword? = nil) async throws -> String? {
            guard let secret = try await keychain.secret(for: name ?? self.name, authentication: authentication) else { return nil }
            return secret.text()
        }

        private func failure(_ body: () async throws -> Void) async -> KeychainError? {
            do {
                try await body()
                return nil
            } catch { return error as? KeychainError }
        }

        @Test("Setting a secret keeps the access control", .proves("C-019", "C-026", "C-091"))
        func settingKeepsTheAccessControl() async throws {
            try await keychain.set(Secret(utf8: "one"), for: name, protection: .presence)
            let user = try rooms.user([.cancel, .passcode(Rooms.passcode), .passcode(Rooms.passcode), .passcode(Rooms.passcode)])
            defer { user.leave() }
            // Updating an item that requires the user prompts; cancelling changes nothing.
            #expect(await failure { try await keychain.set(Secret(utf8: "two"), for: name) }?.reason == .cancelled)
            #expect(try await text(.because("show the token")) == "one")
            #expect(user.requests.last?.reason == "show the token")
            try await keychain.set(Secret(utf8: "two"), for: name)
            // No protection was passed, so reading still prompts.
            #expect(await failure { _ = try await text(.never) }?.reason == .interactionNotAllowed)
            #expect(user.requests.count == 3)
            #expect(try await text() == "two")
            #expect(user.requests.count == 4)
        }

        /// A call that waits for the user waits on a separate thread, so an application can make it on its main thread.
        @Test("A prompt does not block the main actor", .proves("C-105"))
        @MainActor func promptDoesNotBlockTheMainActor() async throws {
            try await keychain.set(Secret(utf8: "one"), for: name, protection: .presence)
            let wasFree = Mutex(false)
            let user = try rooms.user([
                .afterwards(
                    {
                        // The prompt is on the screen: what the application draws meanwhile continues.
                        let drawn = DispatchSemaphore(value: 0)
                        Task { @MainActor in drawn.signal() }
                        let isFree = drawn.wait(timeout: .now() + HangLimit.seconds) == .success
                        wasFree.withLock { $0 = isFree }
                    }, Rooms.passcode)
            ])
            defer { user.leave() }
            #expect(try await text() == "one")
            #expect(user.requests.count == 1)
            #expect(wasFree.withLock { $0 })
        }

        /// An existing item gets an access control, and loses it again.
        @Test("A given protection replaces the earlier one", .proves("C-026"))
        func givenProtectionReplacesTheEarlierOne() async throws {
            try await keychain.set(Secret(utf8: "one"), for: name)
            try await keychain.set(Secret(utf8: "two"), for: name, protection: .presence)
            #expect(await failure { _ = try await text(.never) }?.reason == .interactionNotAllowed)
            let user = try rooms.user([.passcode(Rooms.passcode), .passcode(Rooms.passcode)])
            defer { user.leave() }
            #expect(try await text() == "two")
            // Removing it prompts the user.
            try await keychain.update(name, protection: .afterFirstUnlock)
            #expect(user.requests.count == 2)
            #expect(try await text(.never) == "two")
            #expect(try await keychain.item(for: name)?.accessibility == .afterFirstUnlock)
        }

        /// A wrapper as in an application, over the real keychain; the same type runs in memory in its own tests.
        @Test("An application's wrapper works over the keychain and over the store in memory", .proves("C-025", "C-026"))
        func anApplicationsWrapperWorksOverBothStores() async throws {
            struct TokenKeeper<Store: SecretStore> {
                let store: Store
                let name: GenericPassword

                func replace(with token: String) async throws { try await store.set(Secret(utf8: token), for: name) }
                func use<Answer>(_ body: (UnsafeRawBufferPointer) -> Answer) async throws -> Answer? {
                    guard let token = try await store.secret(for: name) else { return nil }
                    return token.withUnsafeBytes(body)
                }
                func forget() async throws -> Bool { try await store.remove(name) }
            }
            func exercise(_ keeper: TokenKeeper<some SecretStore>) async throws {
                #expect(try await keeper.use { $0.count } == nil)
                try await keeper.replace(with: "one")
                try await keeper.replace(with: "another")
                #expect(try await keeper.use { String(decoding: $0, as: UTF8.self) } == "another")
                #expect(try await keeper.store.contains(name))
                #expect(try await keeper.forget())
                #expect(try await !keeper.forget())
            }
            try await exercise(TokenKeeper(store: keychain, name: name))
            try await exercise(TokenKeeper(store: InMemorySecretStore(), name: name))
        }

        @Test("A protected item is found and removed without a prompt") func protectedItemIsFoundAndRemovedWithoutAPrompt() async throws {
            try await keychain.set(Secret(utf8: "guarded"), for: name, protection: .presence)
            let plain = GenericPassword(service: name.service, account: "plain")
            try await keychain.set(Secret(utf8: "open"), for: plain)
            let user = try rooms.user([])
            defer { user.leave() }
            #expect(try await keychain.contains(name))
            #expect(
                try await keychain.items(matching: GenericPassword.Query(service: name.service), authentication: .skipping).map(\.name) == [
                    plain
                ])
            #expect(try await keychain.remove(name))
            #expect(try await !keychain.contains(name))
            #expect(user.requests.isEmpty)
        }

        @Test("A locked keychain and a missing prompt agent have different messages", .proves("C-026"))
        func lockedAndNoPromptAgentHaveDifferentMessages() async throws {
            try await keychain.set(Secret(utf8: "guarded"), for: name, protection: .presence)
            let nobody = try #require(await failure { _ = try await text() })
            #expect(nobody.reason == .interactionNotAllowed)
            #expect(nobody.message.contains("vauban approve"))
            try rooms.authentication.lock()
            let locked = await failure { _ = try await text() }
            let unknown = await failure { _ = try await keychain.contains(name) }
            try rooms.unlock()
            #expect(locked?.reason == .interactionNotAllowed)
            #expect(locked?.message.contains("locked") == true)
            #expect(unknown?.message.contains("locked") == true)
        }

        @Test("The application's own password opens its item") func theApplicationsOwnPasswordOpensItsItem() async throws {
            let password = Authentication.with(ApplicationPassword(Secret(utf8: "from the server")))
            let protection = Protection(.whenUnlocked, requiring: .applicationPassword)
            try await keychain.set(Secret(utf8: "one"), for: name, protection: protection, authentication: password)
            #expect(try await text(password) == "one")
            try await keychain.set(Secret(utf8: "two"), for: name, protection: nil, authentication: password)
            #expect(try await text(password) == "two")
            #expect(await failure { _ = try await text(.never) }?.reason == .interactionNotAllowed)
            let wrong = Authentication.with(ApplicationPassword(Secret(utf8: "a guess")))
            #expect(await failure { _ = try await text(wrong) }?.reason == .authenticationFailed)
            let none = Authentication.with(ApplicationPassword(Secret(utf8: "")))
            #expect(await failure { _ = try await text(none) }?.reason == .invalid)
        }

        /// The user never answers, and the task is cancelled during the prompt.
        @Test("A cancelled task stops waiting for the user") func aCancelledTaskStopsWaiting() async throws {
            try await keychain.set(Secret(utf8: "guarded"), for: name, protection: .presence)
            let asked = AsyncStream<Void>.makeStream()
            let user = try rooms.user([.act { asked.continuation.yield() }])
            defer { user.leave() }
            let reading = Task { [self] in try await text() }
            for await _ in asked.stream { break }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            // The call itself ends too, and its prompt is withdrawn.
            try awaitTrue("the prompt withdrawn") { user.outcomes == [.callerGone] }
            // A task that was cancelled before does not prompt.
            let late = Task { [self] in
                withUnsafeCurrentTask { $0?.cancel() }
                return try await keychain.remove(name)
            }
            await #expect(throws: CancellationError.self) { try await late.value }
            #expect(try await keychain.contains(name))
        }

        /// Eight calls wait for the user, more than small machines have threads for tasks, and others continue meanwhile.
        @Test("Calls that wait for the user do not delay others") func callsThatWaitForTheUserDelayNoOthers() async throws {
            try await keychain.set(Secret(utf8: "guarded"), for: name, protection: .presence)
            let plain = GenericPassword(service: name.service, account: "plain")
            try await keychain.set(Secret(utf8: "open"), for: plain)
            let asked = AsyncStream<Void>.makeStream()
            // Each prompt that appears when the previous one is cancelled stays unanswered too.
            let user = try rooms.user([.act { asked.continuation.yield() }] + Array(repeating: .silence, count: 8))
            defer { user.leave() }
            let waiting = (0..<8).map { _ in Task { [self] in try await text() } }
            for await _ in asked.stream { break }
            #expect(try await text(of: plain) == "open")
            for task in waiting { task.cancel() }
            for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
            // A prompt that is shown when the user leaves would move to the user of the next test.
            try awaitTrue("the prompts withdrawn") { user.outcomes.count == user.requests.count }
        }
    }
}
