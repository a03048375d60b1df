// Items that require the user, and evaluations, through authd and the real agent.

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
    @Suite("The user")
    struct UserTests {
        let rooms: Rooms
        let service = "user-\(UUID().uuidString)"

        init() throws { rooms = try SharedRooms.use() }

        private func addGuarded(_ flags: SecAccessControlCreateFlags = .userPresence) throws {
            let control = try #require(
                SecAccessControlCreateWithFlags(kCFAllocatorDefault, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, flags, nil))
            let item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service, kSecAttrAccount as String: "a",
                kSecValueData as String: Data("guarded".utf8), kSecAttrAccessControl as String: control,
            ]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
        }

        private func read(_ more: [String: Any] = [:]) -> (status: OSStatus, text: String?) {
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service, kSecReturnData as String: true,
            ]
            var result: AnyObject?
            let status = SecItemCopyMatching(query.merging(more) { $1 } as CFDictionary, &result)
            return (status, (result as? Data).map { String(decoding: $0, as: UTF8.self) })
        }

        @Test(
            "Reading a protected item prompts with the caller's real name",
            .proves("C-071", "C-072", "C-073", "C-074", "C-078", "C-080", "C-089", "C-090", "C-097", "C-099", "C-104"))
        func readingAProtectedItemPromptsWithTheCallersRealName() throws {
            try addGuarded()
            let user = try rooms.user([.passcode(Rooms.passcode), .passcode(Rooms.passcode)])
            defer { user.leave() }
            #expect(read([kSecUseOperationPrompt as String: "show the token"]).text == "guarded")
            let request = try #require(user.requests.first)
            #expect(request.reason == "show the token")
            #expect(request.caller.pid == Int64(getpid()))
            // The name comes from the system, not from the process.
            let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            #expect(request.caller.path == executable)
            // Every access prompts.
            #expect(read().text == "guarded")
            #expect(user.requests.count == 2)
        }

        @Test("An update in place keeps the access control", .proves("C-019"))
        func updatingInPlaceKeepsTheAccessControl() throws {
            try addGuarded()
            let user = try rooms.user([.cancel, .passcode(Rooms.passcode), .passcode(Rooms.passcode)])
            defer { user.leave() }
            let query: [String: Any] = [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service]
            let changes = [kSecValueData as String: Data("changed".utf8)] as CFDictionary
            // Changing an item that requires the user prompts too.
            #expect(SecItemUpdate(query as CFDictionary, changes) == errSecUserCanceled)
            #expect(SecItemUpdate(query as CFDictionary, changes) == errSecSuccess)
            #expect(user.requests.count == 2)
            #expect(read().text == "changed")
            #expect(user.requests.count == 3)
        }

        @Test("The lock state and the user must both allow a read", .proves("C-076"))
        func deviceStateAndUserMustBothAgree() throws {
            try addGuarded()
            let user = try rooms.user([.passcode(Rooms.passcode), .cancel])
            defer { user.leave() }
            try rooms.authentication.lock()
            // While locked there is no prompt, which would be useless.
            #expect(read().status == errSecInteractionNotAllowed)
            #expect(user.requests.isEmpty)
            try rooms.unlock()
            #expect(read().text == "guarded")
            // Unlocked, but the user cancels.
            #expect(read().status == errSecUserCanceled)
        }

        @Test("A wrong passcode can be entered again, and the third ends the prompt")
        func wrongPasscodeIsRetriedAndThreeEndThePrompt() throws {
            try addGuarded()
            let user = try rooms.user([
                .passcode("wrong one"), .passcode(Rooms.passcode), .passcode("wrong a"), .passcode("wrong b"), .passcode("wrong c"),
            ])
            defer { user.leave() }
            #expect(read().text == "guarded")
            #expect(user.requests.map(\.attempt) == [1, 2])
            #expect(user.requests[1].attemptsLeft == 4)
            #expect(read().status == errSecAuthFailed)
            #expect(user.requests.count == 5)
            try rooms.unlock()
        }

        @Test("A cancelled prompt is reported as cancelled by the user") func cancellationIsReported() throws {
            try addGuarded()
            let user = try rooms.user([.cancel])
            defer { user.leave() }
            #expect(read().status == errSecUserCanceled)
        }

        @Test("A call without a prompt agent fails at once, with advice", .proves("C-108"))
        func callWithoutAPromptAgentFailsAtOnceWithAdvice() throws {
            try addGuarded()
            #expect(read().status == errSecInteractionNotAllowed)
            #expect((SecCopyErrorMessageString(errSecInteractionNotAllowed, nil) as String?)?.contains("vauban approve") == true)
            let user = try rooms.user([])
            defer { user.leave() }
            #expect(read([kSecUseAuthenticationUI as String: kSecUseAuthenticationUIFail]).status == errSecInteractionNotAllowed)
            #expect(read([kSecUseAuthenticationUI as String: kSecUseAuthenticationUISkip]).status == errSecItemNotFound)
            #expect(user.requests.isEmpty)
        }

        @Test("Deleting a protected item does not prompt") func deletingAProtectedItemDoesNotPrompt() throws {
            try addGuarded(.devicePasscode)
            let query: [String: Any] = [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service]
            #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
        }

        @Test("An evaluation succeeds with the passcode", .proves("C-113", "C-115", "C-116", "C-119"))
        func anEvaluationSucceedsWithThePasscode() async throws {
            let context = LAContext()
            let user = try rooms.user([.passcode(Rooms.passcode), .cancel])
            defer { user.leave() }
            var error: NSError?
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
            #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open the settings"))
            #expect(user.requests.first?.reason == "open the settings")
            #expect(user.requests.first?.operation == .evaluatePolicy)
            #expect(await code { try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "again") } == .userCancel)
            await #expect(throws: LAError.self) { try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "") }
        }

        @Test("A biometric policy cannot be evaluated without a reader")
        func aBiometricPolicyCannotBeEvaluatedWithoutAReader() async throws {
            let context = LAContext()
            var error: NSError?
            #expect(!context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error))
            #expect(error?.code == LAError.Code.biometryNotAvailable.rawValue)
            #expect(
                await code { try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "x") }
                    == .biometryNotAvailable)
        }

        @Test("Invalidating a context ends its prompt", .proves("C-128"))
        func invalidateEndsThePrompt() async throws {
            let context = LAContext()
            let user = try rooms.user([.silence])
            defer { user.leave() }
            let ended = Mutex<LAError.Code?>(nil)
            let replied = DispatchSemaphore(value: 0)
            context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "wait") { _, error in
                ended.withLock { $0 = (error as? LAError)?.code }
                replied.signal()
            }
            #expect(user.awaitPrompt())
            context.invalidate()
            #expect(replied.wait(timeout: .now() + HangLimit.seconds) == .success)
            #expect(ended.withLock { $0 } == .appCancel)
            #expect(await code { try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "x") } == .invalidContext)
        }

        /// Returns the code that a call ended with; nil if it succeeded.
        private func code(_ body: () async throws -> Bool) async -> LAError.Code? {
            do {
                _ = try await body()
                return nil
            } catch {
                return (error as? LAError)?.code
            }
        }
    }
}
