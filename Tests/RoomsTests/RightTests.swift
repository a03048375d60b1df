// Rights that are not persisted: authorized, held, deauthorized and observed, through Apple's API and the real rooms.

import Foundation
import LocalAuthentication
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanUserModel

extension AppleNames {
    @Suite("Rights")
    struct RightTests {
        let rooms: Rooms

        init() throws { rooms = try SharedRooms.use() }

        private func code(_ body: () async throws -> Void) async -> LAError.Code? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? LAError)?.code
            }
        }

        /// The whole cycle, twice: nothing of an authorization that ended counts for the next.
        @Test(
            "A right is authorized, deauthorized and authorized again, each time by a new prompt",
            .proves("C-177", "C-178", "C-179", "C-184", "C-185", "C-186", "C-187", "C-188", "C-191", "C-192", "C-196"))
        func rightIsAuthorizedDeauthorizedAndAuthorizedAgain() async throws {
            let right = LARight()
            let whilePrompted = Mutex<[LARight.State]>([])
            let note: @Sendable () -> Void = { whilePrompted.withLock { $0.append(right.state) } }
            let user = try rooms.user([.afterwards(note, Rooms.passcode), .afterwards(note, Rooms.passcode), .cancel])
            defer { user.leave() }
            #expect(right.state == .unknown && right.tag == 0)
            try await right.authorize(localizedReason: "show your profile")
            #expect(right.state == .authorized)
            await right.deauthorize()
            #expect(right.state == .notAuthorized)
            try await right.authorize(localizedReason: "show it again")
            #expect(right.state == .authorized)
            // An authorized right that is authorized again is not authorized unless the user consents again.
            #expect(await code { try await right.authorize(localizedReason: "and again") } == .userCancel)
            #expect(right.state == .notAuthorized)
            #expect(whilePrompted.withLock { $0 } == [.authorizing, .authorizing])
            #expect(user.requests.map(\.reason) == ["show your profile", "show it again", "and again"])
        }

        @Test("Each requirement accepts its own factors", .proves("C-179", "C-180", "C-181"))
        func requirementsAcceptTheirFactors() async throws {
            try await rooms.withEnrolledFinger { reader in
                let user = try rooms.user([.silence, .silence, .silence, .silence, .passcode(Rooms.passcode), .silence])
                defer { user.leave() }
                reader.expect(.match, .match, .match, .match, .nothing, .miss, .miss, .miss)
                let both = LARight(requirement: .biometry(fallback: .devicePasscode))
                let biometry = LARight(requirement: .biometry)
                for right in [LARight(), LARight(requirement: .default), both, biometry, both] {
                    try await right.authorize(localizedReason: "open")
                    #expect(right.state == .authorized)
                }
                #expect(
                    user.requests.map(\.methods) == [
                        [.passcode, .finger], [.passcode, .finger], [.passcode, .finger], .finger, [.passcode, .finger],
                    ])
                // There is no fallback button without an effect.
                #expect(user.requests[3].offersFallback == false)
                #expect(await code { try await biometry.authorize(localizedReason: "open") } == .authenticationFailed)
                #expect(biometry.state == .notAuthorized)
            }
        }

        /// A right for the current enrollment is bound to that of its creation.
        @Test("Another enrollment ends a right for the current fingerprints", .proves("C-182"))
        func anotherEnrollmentEndsARightForTheCurrentFingers() async throws {
            try await rooms.withEnrolledFinger { reader in
                // The touch comes once the prompt is shown, as a user's does.
                let touch = ScriptedUser.Answer.act {
                    _ = reader.awaitRequest()
                    reader.touch()
                }
                let user = try rooms.user([touch, touch])
                defer { user.leave() }
                let right = LARight(requirement: .biometryCurrentSet)
                try await right.checkCanAuthorize()
                try await right.authorize(localizedReason: "open")
                #expect(right.state == .authorized)
                await right.deauthorize()
                try rooms.enroll(reader)
                #expect(await code { try await right.checkCanAuthorize() } == .authenticationFailed)
                #expect(await code { try await right.authorize(localizedReason: "open") } == .authenticationFailed)
                #expect(right.state == .notAuthorized && user.requests.count == 1)
                try await LARight(requirement: .biometryCurrentSet).authorize(localizedReason: "open")
                try user.awaitPrompts(offering: [.finger, .finger])
            }
        }

        @Test("A check reports an authorization that cannot succeed", .proves("C-183"))
        func checkReportsAnAuthorizationThatCannotSucceed() async throws {
            let right = LARight()
            #expect(await code { try await right.checkCanAuthorize() } == .notInteractive)
            let user = try rooms.user([])
            defer { user.leave() }
            try await right.checkCanAuthorize()
            #expect(await code { try await LARight(requirement: .biometry).checkCanAuthorize() } == .biometryNotAvailable)
            #expect(right.state == .unknown && user.requests.isEmpty)
            // The user decides by the reason, so it must not be empty.
            await #expect(throws: LAError.self) { try await right.authorize(localizedReason: "") }
            #expect(right.state == .unknown && user.requests.isEmpty)
        }

        /// The enclave limits the authorizations of one user, so those of retained rights exist, and those of released rights have ended.
        @Test("Releasing a right ends its authorization", .proves("C-189", "C-190"))
        func releaseOfARightEndsItsAuthorization() async throws {
            let user = try rooms.user(Array(repeating: .passcode(Rooms.passcode), count: 10_000))
            defer { user.leave() }
            var kept: [LARight] = []
            while kept.count < 100 {
                let right = LARight()
                if await code({ try await right.authorize(localizedReason: "keep") }) != nil { break }
                kept.append(right)
            }
            #expect(kept.count > 32 && kept.count <= 64)
            #expect(kept.allSatisfy { $0.state == .authorized })
            kept = []
            // The enclave notices it when it checks the connections.
            let deadline = MachineClock.monotonic + HangLimit.nanoseconds
            var end: LAError.Code?
            repeat {
                end = await code { try await LARight().authorize(localizedReason: "again") }
            } while end != nil && MachineClock.monotonic < deadline
            #expect(end == nil)
        }

        @Test("Releasing a right ends its prompt", .proves("C-189"))
        func releaseOfARightEndsItsPrompt() async throws {
            let user = try rooms.user([.silence])
            defer { user.leave() }
            var right: LARight? = LARight()
            let answer = Mutex<LAError.Code?>(nil)
            let answered = DispatchSemaphore(value: 0)
            right?.authorize(localizedReason: "wait") { error in
                answer.withLock { $0 = (error as? LAError)?.code }
                answered.signal()
            }
            #expect(user.awaitPrompt())
            let states = right?.states
            right = nil
            try awaitTrue("the outcome") { user.outcomes == [.callerGone] }
            #expect(Self.waits(answered) && answer.withLock { $0 } == .appCancel)
            #expect(await states?.reduce(into: []) { $0.append($1) } == [.authorizing, .notAuthorized])
        }

        @Test("A deauthorization ends the prompt, and a right has one prompt at a time")
        func deauthorizationEndsThePromptAndOnlyOnePromptIsOpen() async throws {
            let user = try rooms.user([.silence])
            defer { user.leave() }
            let right = LARight()
            async let first = code { try await right.authorize(localizedReason: "wait") }
            for await state in right.states where state == .authorizing { break }
            #expect(user.awaitPrompt())
            #expect(await code { try await right.authorize(localizedReason: "me too") } == .systemCancel)
            #expect(right.state == .authorizing)
            await right.deauthorize()
            #expect(await first == .appCancel)
            #expect(right.state == .notAuthorized)
            try awaitTrue("the outcome") { user.outcomes == [.callerGone] }
        }

        /// Three observers see the same: a sequence, an observer and the default notification center.
        @Test("Every kind of observer sees every transition", .proves("C-193", "C-195"))
        func observersSeeEveryTransition() async throws {
            let user = try rooms.user([.passcode(Rooms.passcode), .cancel])
            defer { user.leave() }
            let right = LARight()
            let other = LARight()
            let states = right.states
            let changes = Mutex<[[LARight.State?]]>([])
            let observation = right.observe(\.state, options: [.initial, .old, .new]) { _, change in
                changes.withLock { $0.append([change.oldValue, change.newValue]) }
            }
            let posted = Mutex<[String]>([])
            let numbers = [ObjectIdentifier(right): "right", ObjectIdentifier(other): "other"]
            let tokens = [(LARight.didBecomeAuthorized, "yes"), (.didBecomeUnauthorized, "no")].map { name, word in
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
                    guard let subject = notification.object as? LARight, let which = numbers[ObjectIdentifier(subject)] else { return }
                    // Posted after the change: the state is already the new one.
                    posted.withLock { $0.append("\(which) \(word) \(subject.state.rawValue)") }
                }
            }
            defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
            try await right.authorize(localizedReason: "open")
            #expect(await code { try await other.authorize(localizedReason: "open") } == .userCancel)
            await right.deauthorize()
            await right.deauthorize()
            observation.invalidate()
            await #expect(throws: LAError.self) { try await right.authorize(localizedReason: "and again") }
            #expect(
                changes.withLock { $0 } == [
                    [nil, .unknown], [.unknown, .authorizing], [.authorizing, .authorized], [.authorized, .notAuthorized],
                ])
            #expect(posted.withLock { $0 } == ["right yes 2", "other no 3", "right no 3", "right no 3"])
            var seen: [LARight.State] = []
            for await state in states {
                seen.append(state)
                if seen.count == 6 { break }
            }
            #expect(seen == [.unknown, .authorizing, .authorized, .notAuthorized, .authorizing, .notAuthorized])
        }

        /// A handler may do anything with the right, and observers added there see what follows.
        @Test("An observer can deauthorize the right") func observerCanDeauthorizeTheRight() async throws {
            let user = try rooms.user([.passcode(Rooms.passcode)])
            defer { user.leave() }
            let right = LARight()
            let inner = Mutex<NSKeyValueObservation?>(nil)
            let seen = Mutex<[LARight.State?]>([])
            let observation = right.observe(\.state, options: .new) { right, change in
                guard change.newValue == .authorized else { return }
                let own = right.observe(\.state, options: [.initial, .new]) { _, change in seen.withLock { $0.append(change.newValue) } }
                inner.withLock { $0 = own }
                right.deauthorize {}
            }
            try await right.authorize(localizedReason: "open")
            #expect(right.state == .notAuthorized && seen.withLock { $0 } == [.authorized, .notAuthorized])
            observation.invalidate()
        }

        /// What a handler retains, even the right itself, is released when the observation ends.
        @Test("The end of an observation releases what its handler retains") func cancelledObserverReleasesTheRight() throws {
            final class Owner: Sendable { let right = LARight() }
            weak var held: Owner?
            let observation = {
                let owner = Owner()
                held = owner
                return owner.right.observe(\.state) { _, _ in owner.right.tag += 1 }
            }()
            #expect(held != nil)
            observation.invalidate()
            #expect(held == nil)
        }

        /// An authentication is not an authorization, but permits one. And the authorization of one right is not that of another.
        @Test("An evaluated context does not authorize a right, nor does another right", .proves("C-174", "C-197"))
        func evaluatedContextDoesNotAuthorizeARight() async throws {
            let user = try rooms.user([.passcode(Rooms.passcode), .passcode(Rooms.passcode)])
            defer { user.leave() }
            let first = LARight()
            #expect(try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "log in"))
            #expect(first.state == .unknown)
            try await first.authorize(localizedReason: "open")
            let second = LARight()
            #expect(second.state == .unknown && first.state == .authorized)
        }

        @Test("An authorization does not block the main actor") @MainActor func authorizationDoesNotBlockTheMainActor() async throws {
            let user = try rooms.user([.afterwards({ DispatchQueue.main.sync {} }, Rooms.passcode)])
            defer { user.leave() }
            let right = LARight()
            try await right.authorize(localizedReason: "open")
            await right.deauthorize()
            #expect(right.state == .notAuthorized)
        }

        /// With concurrent calls, every transition follows the previous one.
        @Test("With concurrent calls every transition follows the previous one")
        func concurrentObserversSeeTheSameTransitions() async throws {
            let user = try rooms.user([])
            defer { user.leave() }
            let right = LARight()
            let history = Mutex<[(LARight.State?, LARight.State?)]>([])
            let observation = right.observe(\.state, options: [.initial, .old, .new]) { _, change in
                history.withLock { $0.append((change.oldValue, change.newValue)) }
            }
            await withTaskGroup(of: Void.self) { group in
                for number in 1...24 {
                    group.addTask {
                        if number % 3 == 0 { await right.deauthorize() } else { try? await right.authorize(localizedReason: "open") }
                        right.tag = number
                    }
                }
            }
            await right.deauthorize()
            observation.invalidate()
            let seen = history.withLock { $0 }
            for (before, after) in zip(seen, seen.dropFirst()) { #expect(after.0 == before.1 && after.0 != after.1) }
            #expect(seen.last?.1 == .notAuthorized && right.state == .notAuthorized)
        }

        /// Waits for a semaphore, off the test's own thread, which Swift's tasks need.
        private static func waits(_ semaphore: DispatchSemaphore) -> Bool {
            semaphore.wait(timeout: .now() + HangLimit.seconds) == .success
        }
    }
}
