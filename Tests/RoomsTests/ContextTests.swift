// What an LAContext keeps after a prompt, and what ends that, through Apple's API and the real rooms.

import Foundation
import Glibc
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
    @Suite("Contexts")
    struct ContextTests: ContextFixture {
        let rooms: Rooms
        let service = "context-\(UUID().uuidString)"

        init() throws { rooms = try SharedRooms.use() }

        /// The program chooses the moment; afterwards its calls do not prompt until it invalidates the context.
        @Test(
            "An access control that was evaluated in advance does not prompt again until its context is invalidated",
            .proves("C-129", "C-130", "C-131", "C-135"))
        func controlEvaluatedInAdvanceDoesNotPromptAgain() async throws {
            try add("token", flags: .userPresence)
            let user = try rooms.user([.passcode(Rooms.passcode), .cancel])
            defer { user.leave() }
            let context = LAContext()
            #expect(try await context.evaluateAccessControl(control(.userPresence), operation: .useItem, localizedReason: "show the token"))
            #expect(user.requests.map(\.reason) == ["show the token"])
            #expect(read("token", context) == errSecSuccess)
            #expect(SecItemUpdate(query("token", context) as CFDictionary, [kSecAttrComment: "x"] as CFDictionary) == errSecSuccess)
            context.interactionNotAllowed = true
            #expect(read("token", context) == errSecSuccess)
            #expect(try await context.evaluateAccessControl(control(.userPresence), operation: .useItem, localizedReason: "again"))
            #expect(user.requests.count == 1)
            // Another context does not share it.
            #expect(read("token", LAContext()) == errSecUserCanceled)
            #expect(user.requests.count == 2)
            context.invalidate()
            context.invalidate()
            #expect(read("token", context) == errSecAuthFailed)
            #expect(user.requests.count == 2)
        }

        @Test("A lock ends the authorizations of a context") func lockEndsTheAuthorizationsOfAContext() async throws {
            try add("token", flags: .userPresence)
            let user = try rooms.user([.passcode(Rooms.passcode), .cancel])
            defer { user.leave() }
            let context = LAContext()
            #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open"))
            #expect(read("token", context) == errSecSuccess)
            try rooms.authentication.lock()
            #expect(read("token", context) == errSecInteractionNotAllowed)
            try rooms.unlock()
            #expect(read("token", context) == errSecUserCanceled)
            #expect(user.requests.count == 2)
        }

        /// Each kind of evidence opens the items that require it, and prompts cover only the rest.
        @Test("A fingerprint and the passcode do not replace each other", .proves("C-117", "C-118", "C-125"))
        func fingerprintAndPasscodeDoNotReplaceEachOther() async throws {
            try await rooms.withEnrolledFinger { reader in
                try add("finger", flags: .biometryAny)
                try add("passcode", flags: .devicePasscode)
                try add("both", flags: [.biometryAny, .and, .devicePasscode])
                let user = try rooms.user([.silence, .cancel, .passcode(Rooms.passcode), .passcode(Rooms.passcode), .cancel])
                defer { user.leave() }
                reader.expect(.match)
                let touched = LAContext()
                #expect(try await touched.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "open"))
                #expect(read("finger", touched) == errSecSuccess)
                #expect(read("passcode", touched) == errSecUserCanceled)
                #expect(read("both", touched) == errSecSuccess)
                // The biometry policy accepts nothing else; later only the passcode was missing.
                try user.awaitPrompts(offering: [.finger, .passcode, .passcode])
                let typed = LAContext()
                #expect(try await typed.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open"))
                #expect(read("passcode", typed) == errSecSuccess)
                #expect(read("finger", typed) == errSecUserCanceled)
                #expect(user.requests.last?.methods == .finger)
            }
        }

        @Test("The domain state changes with the enrolled fingerprints", .proves("C-127", "C-147"))
        func domainStateChangesWithTheFingerprints() async throws {
            let context = LAContext()
            #expect(context.evaluatedPolicyDomainState == nil && context.biometryType == .none)
            try await rooms.withEnrolledFinger { reader in
                let user = try rooms.user([.silence])
                defer { user.leave() }
                #expect(context.biometryType == .touchID)
                #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
                #expect(context.evaluatedPolicyDomainState == nil)
                #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
                let before = try #require(context.evaluatedPolicyDomainState)
                #expect(context.domainState.biometry.stateHash == before && context.domainState.stateHash == before)
                reader.expect(.match)
                let other = LAContext()
                #expect(try await other.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "open"))
                #expect(other.evaluatedPolicyDomainState == before)
                // Enrolling the same finger again changes the enrollment.
                try rooms.enroll(reader)
                #expect(other.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
                #expect(other.evaluatedPolicyDomainState != nil && other.evaluatedPolicyDomainState != before)
            }
            #expect(context.domainState.stateHash == nil)
        }

        /// Both buttons end the prompt, and the program receives which one; their titles are the program's, if they are text.
        @Test("Fallback and cancel are two answers, under the program's titles", .proves("C-098", "C-120", "C-124"))
        func fallbackAndCancelAreTwoAnswers() async throws {
            try await rooms.withEnrolledFinger { _ in
                let user = try rooms.user([.fallback, .cancel, .silence])
                defer { user.leave() }
                let context = LAContext()
                context.localizedFallbackTitle = "Use\u{1B}[31m\nmy own \u{202E}way"
                context.localizedCancelTitle = ""
                let policy = LAPolicy.deviceOwnerAuthenticationWithBiometrics
                #expect(
                    await code { try await context.evaluatePolicy(policy, localizedReason: "open\u{1B}[2J\u{202E} it") } == .userFallback)
                context.localizedFallbackTitle = ""
                context.localizedCancelTitle = "Later"
                #expect(await code { try await context.evaluatePolicy(policy, localizedReason: "open it") } == .userCancel)
                #expect(user.requests.map(\.reason) == ["open[2J it", "open it"])
                #expect(
                    user.requests.map(\.titles) == [
                        PromptTitles(cancel: nil, fallback: "Use[31m my own way"), PromptTitles(cancel: "Later", fallback: ""),
                    ])
                #expect(user.requests.map(\.offersFallback) == [true, false])
            }
        }

        /// With fingerprints alone, the second button is the application's fallback, with its own title: no system title replaces it. What
        /// the application then accepts is its own decision, here a password that opens an item.
        @Test("With fingerprints alone, the second button is the application's fallback", .proves("C-118", "C-121"))
        func callerOffersItsFallback() async throws {
            try add("own way", flags: .applicationPassword, password: "its own password")
            try await rooms.withEnrolledFinger { _ in
                let user = try rooms.user([.fallback])
                defer { user.leave() }
                let context = LAContext()
                context.localizedFallbackTitle = "Type the app’s password"
                let policy = LAPolicy.deviceOwnerAuthenticationWithBiometrics
                #expect(await code { try await context.evaluatePolicy(policy, localizedReason: "open it") } == .userFallback)
                let request = try #require(user.requests.first)
                #expect((request.methods, request.titles.fallback) == (.finger, "Type the app’s password"))
                // The choice alone opens nothing.
                context.interactionNotAllowed = true
                #expect(read("own way", context) == errSecInteractionNotAllowed)
                #expect(context.setCredential(Data("not it".utf8), type: .applicationPassword))
                #expect(read("own way", context) == errSecAuthFailed)
                #expect(context.setCredential(Data("its own password".utf8), type: .applicationPassword))
                #expect(read("own way", context) == errSecSuccess)
                // All of that was between the application and its user.
                #expect(user.requests.count == 1)
            }
        }

        /// The picture changes while the prompt stays, and the prompt closes with the fingerprint that matches.
        @Test("An unrecognized fingerprint is reported, and the prompt stays", .proves("C-102"))
        func unrecognizedFingerprintIsReportedAndPromptedAgain() async throws {
            try await rooms.withEnrolledFinger { reader in
                let user = try rooms.user([.silence])
                defer { user.leave() }
                reader.expect(.miss, .match)
                #expect(try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open"))
                try awaitTrue("the outcome") { user.outcomes == [.accepted] }
                #expect(user.requests.count == 1)
                #expect(user.requests.first?.state.finger == .awaited)
                #expect(user.updates.map(\.change) == [.tryAgain, .matched])
                #expect(user.updates.first?.fingersLeft == 4)
            }
        }

        /// The check beforehand succeeded, and the evaluation still fails: too many misses, then only the passcode helps.
        @Test("After five misses fingerprints do not count until the passcode is entered", .proves("C-122", "C-136", "C-138", "C-140"))
        func fiveMissesEndFingersUntilThePasscode() async throws {
            try await rooms.withEnrolledFinger { reader in
                let user = try rooms.user([.silence, .silence, .passcode(Rooms.passcode), .silence])
                defer { user.leave() }
                let context = LAContext()
                let policy = LAPolicy.deviceOwnerAuthenticationWithBiometrics
                #expect(context.canEvaluatePolicy(policy, error: nil))
                reader.expect(.miss, .miss, .miss, .miss, .miss, .match)
                #expect(await code { try await context.evaluatePolicy(policy, localizedReason: "open") } == .authenticationFailed)
                #expect(await code { try await context.evaluatePolicy(policy, localizedReason: "open") } == .biometryLockout)
                var error: NSError?
                #expect(!context.canEvaluatePolicy(policy, error: &error) && error?.code == LAError.Code.biometryLockout.rawValue)
                #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open"))
                #expect(user.requests.last?.methods == .passcode && user.requests.last?.state.finger == .disabled)
                #expect(try await context.evaluatePolicy(policy, localizedReason: "open"))
            }
        }

        /// A child has the handle in its memory and is another process.
        @Test("A forked child inherits no authorization") func forkedChildInheritsNoAuthorization() throws {
            try add("token", flags: .userPresence)
            let user = try rooms.user([.passcode(Rooms.passcode)])
            defer { user.leave() }
            let program = Process()
            program.executableURL = URL(fileURLWithPath: "\(Rooms.programs)/keychain-caller")
            program.arguments = ["forked", "token", service]
            let output = Pipe()
            program.standardOutput = output
            try program.run()
            program.waitUntilExit()
            let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            #expect(said == "child \(errSecInteractionNotAllowed)\nparent 0\n")
            #expect(user.requests.count == 1)
        }
    }
}
