// LAEnvironment through the real rooms: its state, and the notification of changes.

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
    @Suite("Environment")
    struct EnvironmentTests {
        let rooms: Rooms

        /// The user of a previous test has left by then.
        init() throws {
            rooms = try SharedRooms.use()
            try awaitTrue("nobody") { LAEnvironment.currentUser.state.userPassword?.isUsable == false }
        }

        @Test("The environment's state agrees with what can be evaluated") func stateAgreesWithEvaluation() async throws {
            let environment = LAEnvironment.currentUser
            let context = LAContext()
            let nobody = environment.state
            #expect(nobody.biometry == nil && nobody.companions.isEmpty && nobody.allMechanisms == [nobody.userPassword])
            // A passcode is set, and no prompt for it is possible.
            #expect(nobody.userPassword?.isSet == true && nobody.userPassword?.isUsable == false)
            #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            let user = try rooms.user([])
            defer { user.leave() }
            let somebody = environment.state
            #expect(somebody.userPassword?.isUsable == true && somebody != nobody && somebody == environment.state)
            #expect(somebody.copy() as? LAEnvironment.State == somebody)
            #expect(somebody.userPassword?.localizedName == "Passcode" && somebody.userPassword?.iconSystemName.isEmpty == false)
            try await rooms.withEnrolledFinger { _ in
                let state = environment.state
                let fingers = try #require(state.biometry)
                #expect(fingers.biometryType == .touchID && fingers.isEnrolled && fingers.isUsable && !fingers.isLockedOut)
                #expect(!fingers.builtInSensorInaccessible && state.allMechanisms == [fingers, state.userPassword])
                #expect(fingers.stateHash != nil && fingers.stateHash == context.domainState.biometry.stateHash)
                #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
            }
            #expect(environment.state == somebody)
        }

        /// The observer is notified of each change, from the old state to one that it can already read.
        @Test("Observers are notified of each change, and can already read the new state") func observersAreNotifiedOfChanges() throws {
            let environment = LAEnvironment.currentUser
            let listener = Listener()
            environment.addObserver(listener)
            environment.addObserver(listener)
            defer { environment.removeObserver(listener) }
            #expect(listener.changes.isEmpty)

            // Leaves prompts to the reader.
            let user = try rooms.user([.silence, .silence])
            defer { user.leave() }
            let asked = try listener.next { $0.userPassword?.isUsable == true }
            #expect(asked.old.userPassword?.isUsable == false)

            let reader = try rooms.reader()
            let there = try listener.next { $0.biometry != nil }
            #expect(there.old.biometry == nil && there.new.biometry?.isEnrolled == false && there.new.biometry?.isUsable == false)

            try rooms.enroll(reader)
            let enrolled = try listener.next { $0.biometry?.isEnrolled == true }
            #expect(enrolled.new.biometry?.isUsable == true && enrolled.old.biometry?.stateHash == nil)
            let hash = try #require(enrolled.new.biometry?.stateHash)

            try rooms.enroll(reader)
            let again = try listener.next { $0.biometry?.stateHash != hash }
            #expect(again.old.biometry?.stateHash == hash && again.new.biometry?.isUsable == true)

            // During a lockout, the enrollment is the same.
            let asking = try missFiveTimes(reader)
            let out = try listener.next { $0.biometry?.isLockedOut == true }
            #expect(out.new.biometry?.isUsable == false && out.new.biometry?.stateHash == again.new.biometry?.stateHash)
            #expect(LAContext().domainState.stateHash == again.new.biometry?.stateHash)
            asking.invalidate()
            try rooms.authentication.lock()
            try rooms.unlock()
            #expect(try listener.next { $0.biometry?.isUsable == true }.old.biometry?.isLockedOut == true)

            try rooms.authentication.forgetFingers(secret(Rooms.passcode))
            #expect(try listener.next { $0.biometry?.isEnrolled == false }.new.biometry?.stateHash == nil)
            reader.leave()
            #expect(try listener.next { $0.biometry == nil }.old.biometry != nil)
            user.leave()
            #expect(try listener.next { $0.userPassword?.isUsable == false }.old.userPassword?.isUsable == true)

            // Each change starts from another state than the one before it. The state that an observer reads may already be a later one.
            for (before, after) in zip(listener.changes, listener.changes.dropFirst()) { #expect(before.old != after.old) }
        }

        /// Misses five times, the last two in a prompt that stays open for the passcode; returns its context.
        private func missFiveTimes(_ reader: VirtualReader) throws -> LAContext {
            reader.expect(.miss, .miss, .miss, .miss, .miss)
            let ended = DispatchSemaphore(value: 0)
            LAContext().evaluate(.deviceOwnerAuthenticationWithBiometrics) { ended.signal() }
            #expect(ended.wait(timeout: .now() + HangLimit.seconds) == .success)
            #expect(try rooms.biometry.missesLeft == 2)
            let open = LAContext()
            open.evaluate(.deviceOwnerAuthentication) {}
            return open
        }

        @Test("Removed and released observers are not notified") func removedObserversAreNotNotified() throws {
            let environment = LAEnvironment.currentUser
            let stays = Listener(), leaves = Listener()
            // As many do it.
            var goes: Listener? = Listener { environment.removeObserver($0) }
            weak let gone = goes
            for listener in [stays, leaves, goes].compactMap({ $0 }) { environment.addObserver(listener) }
            defer { environment.removeObserver(stays) }
            goes = nil
            #expect(gone == nil)
            environment.removeObserver(leaves)
            let user = try rooms.user([])
            _ = try stays.next { $0.userPassword?.isUsable == true }
            user.leave()
            _ = try stays.next { $0.userPassword?.isUsable == false }
            #expect(leaves.changes.isEmpty && stays.changes.count == 2)
        }

        /// A listener outlives the rooms: killing one is not a change, and later changes are reported.
        @Test("An observation survives restarts of rooms, which are not reported as changes", arguments: ["authd", "enclaved"])
        func observationSurvivesRoomRestarts(_ room: String) throws {
            let environment = LAEnvironment.currentUser
            let listener = Listener()
            let before = try rooms.user([])
            try awaitTrue("a user") { environment.state.userPassword?.isUsable == true }
            environment.addObserver(listener)
            defer { environment.removeObserver(listener) }
            try rooms.killAndAwait(room)
            before.leave()
            _ = try listener.next { $0.userPassword?.isUsable == false }
            try rooms.unlock()
            let after = try rooms.user([])
            #expect(try listener.next { $0.userPassword?.isUsable == true }.new.userPassword?.isSet == true)
            after.leave()
            _ = try listener.next { $0.userPassword?.isUsable == false }
        }

        /// A child inherits its parent's observers but not the listener, which it does not end.
        @Test("A forked child observes independently of its parent") func forkedChildObservesIndependently() throws {
            let program = Process()
            program.executableURL = URL(fileURLWithPath: "\(Rooms.programs)/keychain-caller")
            program.arguments = ["environment", "nothing"]
            let output = Pipe()
            program.standardOutput = output
            try program.run()
            let lines = Lines(output.fileHandleForReading)
            #expect(lines.next(1) == ["the parent watches"])
            let first = try rooms.user([])
            #expect(lines.next(2) == ["both watch", "parent can"])
            first.leave()
            #expect(lines.next(2) == ["child cannot", "parent cannot"])
            let second = try rooms.user([])
            defer { second.leave() }
            #expect(lines.next(2) == ["child can", "parent can"])
            program.waitUntilExit()
            #expect(program.terminationStatus == 0)
        }

        /// A stopped service stays stopped, even if programs read the state, or do so when they are notified.
        @Test("An observation does not start a stopped service") func observationDoesNotStartAStoppedService() throws {
            let environment = LAEnvironment.currentUser
            let listener = Listener()
            let before = try rooms.user([])
            defer { before.leave() }
            try awaitTrue("a user") { environment.state.userPassword?.isUsable == true }
            environment.addObserver(listener)
            defer { environment.removeObserver(listener) }
            #expect(try rooms.stopService())
            // It has read the state again by then.
            _ = try listener.next { $0.userPassword?.isUsable == false }
            #expect(environment.state.userPassword?.isSet == true)
            #expect(throws: HandshakeError.self) { _ = try rooms.service.authenticationAddress.connect() }
            // A call starts it, unless the machine halts for longer than that waits, and the listener finds it by itself.
            try awaitTrue("a call that starts it") {
                try rooms.unlock()
                return true
            }
            let after = try rooms.user([])
            defer { after.leave() }
            _ = try listener.next { $0.userPassword?.isUsable == true }
        }

        /// A failed read of the state is repeated without another change.
        @Test("A failed read of the state is repeated without another change") func failedStatusRequestIsRepeated() throws {
            let looks = Mutex(0)
            let seen = DispatchSemaphore(value: 0)
            let watch = try EnvironmentListener(service: { [service = rooms.service] in service }) { isReachable in
                let count = looks.withLock { looks in
                    looks += 1
                    return looks
                }
                if count == 3 { seen.signal() }
                return isReachable && count > 2
            }
            try watch.start()
            #expect(seen.wait(timeout: .now() + HangLimit.seconds) == .success)
            watch.end()
        }

        /// The last known state remains, and nothing is usable.
        @Test("While the service cannot be reached, no mechanism is usable") func unreachableMechanismIsNotUsable() throws {
            let user = try rooms.user([])
            defer { user.leave() }
            let environment = LAEnvironment.currentUser
            try awaitTrue("a user") { environment.state.userPassword?.isUsable == true }
            setenv("VAUBAN_HOME", "\(rooms.home)/nowhere", 1)
            defer { setenv("VAUBAN_HOME", rooms.home, 1) }
            let lost = environment.state
            #expect(lost.userPassword?.isSet == true && lost.userPassword?.isUsable == false)
            setenv("VAUBAN_HOME", rooms.home, 1)
            try awaitTrue("the user again") { environment.state.userPassword?.isUsable == true }
        }
    }
}

extension LAContext {
    /// Keeps the context until the end.
    fileprivate func evaluate(_ policy: LAPolicy, _ ended: @escaping @Sendable () -> Void) {
        evaluatePolicy(policy, localizedReason: "miss") { [self] _, _ in
            withExtendedLifetime(self) {}
            ended()
        }
    }
}

/// A program's output, line by line.
private final class Lines {
    private let handle: FileHandle
    private var rest = ""

    init(_ handle: FileHandle) { self.handle = handle }

    /// Returns this many lines, sorted; fewer if the output ended.
    func next(_ count: Int) -> [String] {
        var lines: [String] = []
        while lines.count < count {
            if let end = rest.firstIndex(of: "\n") {
                lines.append(String(rest[..<end]))
                rest = String(rest[rest.index(after: end)...])
                continue
            }
            let more = handle.availableData
            if more.isEmpty { break }
            rest += String(decoding: more, as: UTF8.self)
        }
        return lines.sorted()
    }
}

/// Keeps the changes that it receives.
private final class Listener: NSObject, LAEnvironment.Observer, Sendable {
    struct Change: Sendable {
        let old: LAEnvironment.State
        let new: LAEnvironment.State
    }

    private let list = Mutex<(all: [Change], taken: Int)>(([], 0))
    private let came = DispatchSemaphore(value: 0)
    private let atEnd: @Sendable (Listener) -> Void

    init(atEnd: @escaping @Sendable (Listener) -> Void = { _ in }) { self.atEnd = atEnd }

    deinit { atEnd(self) }

    var changes: [Change] { list.withLock { $0.all } }

    func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {
        list.withLock { $0.all.append(Change(old: oldState, new: environment.state)) }
        came.signal()
    }

    struct NothingCame: Error {}

    /// Returns the next change to a matching state; others may precede it, if one event causes two.
    func next(_ isSo: (LAEnvironment.State) -> Bool) throws -> Change {
        while true {
            guard came.wait(timeout: .now() + HangLimit.seconds) == .success else { throw NothingCame() }
            let change = list.withLock { list in
                defer { list.taken += 1 }
                return list.all[list.taken]
            }
            if isSo(change.new) { return change }
        }
    }
}
