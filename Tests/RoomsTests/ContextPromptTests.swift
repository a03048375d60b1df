// Prompts of LAContexts: what ends them, what refuses them, and whose answer is whose, through Apple's API and the real rooms.

import Foundation
import LocalAuthentication
import Security
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanUserModel

extension AppleNames {
    @Suite("Prompts of contexts")
    struct ContextPromptTests: ContextFixture {
        let rooms: Rooms
        let service = "context-prompt-\(UUID().uuidString)"

        /// The user of a previous test has left by then.
        init() throws {
            rooms = try SharedRooms.use()
            try awaitTrue("nobody") { LAEnvironment.currentUser.state.userPassword?.isUsable == false }
        }

        @Test("A lock ends the prompt") func aLockEndsThePrompt() async throws {
            try add("token", flags: .userPresence)
            let user = try rooms.user([
                .act { [rooms] in try? rooms.authentication.lock() }, .act { [rooms] in try? rooms.authentication.lock() },
            ])
            defer { user.leave() }
            #expect(
                await code { try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open") } == .systemCancel)
            try rooms.unlock()
            #expect(read("token", nil) == errSecInteractionNotAllowed)
            try rooms.unlock()
            try awaitTrue("the outcomes") { user.outcomes == [.expired, .expired] }
        }

        @Test("An evaluation keeps its context until the reply has returned, and no longer")
        func evaluationKeepsItsContext() throws {
            let dropped = DispatchSemaphore(value: 0)
            let user = try rooms.user([.afterwards({ _ = dropped.wait(timeout: .now() + HangLimit.seconds) }, Rooms.passcode)])
            defer { user.leave() }
            let isAuthenticated = Mutex(false)
            let replied = DispatchSemaphore(value: 0)
            weak var kept: LAContext?
            do {
                let context = LAContext()
                kept = context
                context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open") { success, _ in
                    isAuthenticated.withLock { $0 = success }
                    replied.signal()
                }
            }
            #expect(user.awaitPrompt())
            #expect(kept != nil)
            dropped.signal()
            #expect(replied.wait(timeout: .now() + HangLimit.seconds) == .success)
            #expect(isAuthenticated.withLock { $0 })
            try awaitTrue("the release of the context") { kept == nil }
        }

        @Test("A temporary context evaluates a policy and an access control") func temporaryContextEvaluates() throws {
            let user = try rooms.user([.passcode(Rooms.passcode), .passcode(Rooms.passcode)])
            defer { user.leave() }
            let successes = Mutex(0)
            let replied = DispatchSemaphore(value: 0)
            LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open") { success, _ in
                if success { successes.withLock { $0 += 1 } }
                replied.signal()
            }
            #expect(replied.wait(timeout: .now() + HangLimit.seconds) == .success)
            LAContext().evaluateAccessControl(try control(.userPresence), operation: .useItem, localizedReason: "open") { success, _ in
                if success { successes.withLock { $0 += 1 } }
                replied.signal()
            }
            #expect(replied.wait(timeout: .now() + HangLimit.seconds) == .success)
            #expect(successes.withLock { $0 } == 2 && user.requests.count == 2)
        }

        @Test("Invalidating a context also ends a keychain call that waits") func invalidatingEndsAKeychainCallToo() throws {
            try add("token", flags: .userPresence)
            let user = try rooms.user([.silence])
            defer { user.leave() }
            let context = LAContext()
            let call = Running { read("token", context) }
            #expect(user.awaitPrompt())
            context.invalidate()
            #expect(try call.value() == errSecAuthFailed)
            try awaitTrue("the outcome") { user.outcomes == [.callerGone] }
        }

        @Test("A context that forbids prompts forbids them whatever the query allows") func contextForbidsPrompts() throws {
            try add("token", flags: .userPresence)
            let user = try rooms.user([.cancel])
            defer { user.leave() }
            let context = LAContext()
            context.interactionNotAllowed = true
            let allowing: [[String: Any]] = [
                [kSecUseAuthenticationUI as String: kSecUseAuthenticationUIAllow], [kSecUseNoAuthenticationUI as String: false],
            ]
            for keys in allowing {
                var asked = query("token", context)
                asked[kSecReturnData as String] = true
                asked.merge(keys) { $1 }
                #expect(SecItemCopyMatching(asked as CFDictionary, nil) == errSecInteractionNotAllowed)
            }
            #expect(user.requests.isEmpty)
            context.interactionNotAllowed = false
            #expect(read("token", context) == errSecUserCanceled)
            #expect(user.requests.count == 1)
        }

        @Test("An evaluation fails at once if nothing can show the prompt")
        func evaluationWithoutAPossiblePromptFailsAtOnce() async throws {
            let context = LAContext()
            var error: NSError?
            #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
            #expect(error?.code == LAError.Code.notInteractive.rawValue)
            #expect(await code { try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open") } == .notInteractive)
            let user = try rooms.user([])
            defer { user.leave() }
            context.interactionNotAllowed = true
            #expect(await code { try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open") } == .notInteractive)
            #expect(
                await code { try await context.evaluatePolicy(.deviceOwnerAuthenticationWithCompanion, localizedReason: "open") }
                    == .companionNotAvailable)
            #expect(user.requests.isEmpty)
        }

        /// A program that deletes a secret after a failed authentication must not do so because a room restarted.
        @Test("The end of the service is not reported as a failed authentication", .proves("C-123"))
        func endOfTheServiceIsNotAFailedAuthentication() async throws {
            let user = try rooms.user([.silence])
            let context = LAContext()
            let end = evaluation(context)
            #expect(user.awaitPrompt())
            try rooms.killAndAwait("authd")
            #expect(try end.value() == .systemCancel)
            user.leave()
            let other = try rooms.user([.passcode("wrong one"), .passcode("wrong two"), .passcode("wrong three")])
            defer { other.leave() }
            #expect(
                await code { try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open") }
                    == .authenticationFailed)
            try rooms.unlock()
        }

        /// The user sees one prompt at a time, and each answer belongs to its own.
        @Test("Concurrent callers are prompted in turn, and each answer belongs to its own prompt")
        func concurrentCallersArePromptedInTurn() async throws {
            let user = try rooms.user([.passcode(Rooms.passcode), .cancel])
            defer { user.leave() }
            async let first = code { try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "one") }
            async let second = code { try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "two") }
            let ends = await [first, second]
            #expect(ends.count { $0 == nil } == 1 && ends.count { $0 == .userCancel } == 1)
            #expect(Set(user.requests.map(\.prompt)).count == 2 && Set(user.requests.map(\.challenge)).count == 2)
        }
    }
}
