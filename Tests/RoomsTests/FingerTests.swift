// What a fingerprint opens, and when it does not: through the client library, the rooms and a reader at the enclave's socket.

import Enclave
import EnclaveWire
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

@Suite("Fingers")
struct FingerTests {
    @Test("User presence is proven by a fingerprint or the passcode, as the user prefers", .proves("C-081"))
    func presenceAcceptsAFingerprintOrThePasscode() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        let user = try rooms.user([.silence, .passcode(Rooms.passcode)])
        defer { user.leave() }
        reader.expect(.match, .nothing)
        #expect(try rooms.read("s", "p") == "guarded")
        #expect(try rooms.read("s", "p") == "guarded")
        // Both methods were offered each time, and the reader received a request each time.
        try user.awaitPrompts(offering: [[.passcode, .finger], [.passcode, .finger]])
        try awaitTrue("two prompts") { reader.asks == 2 }
        try awaitTrue("the ends of both prompts") { user.outcomes == [.accepted, .accepted] }
        // The reader is notified that the second request is withdrawn.
        try awaitTrue("the prompt withdrawn") { reader.cancelled == Array(reader.askedNonces.suffix(1)) }
    }

    @Test("An item that requires the passcode never uses the reader", .proves("C-083"))
    func passcodeItemNeverUsesTheReader() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .devicePasscode)
        let user = try rooms.user([.passcode(Rooms.passcode)])
        defer { user.leave() }
        reader.expect(.match)
        #expect(try rooms.read("s", "p") == "guarded")
        try user.awaitPrompts(offering: [.passcode])
        #expect(reader.asks == 0)
    }

    @Test("An item for any fingerprint can also be opened after another enrollment", .proves("C-084"))
    func anyFingerOpensAlsoAfterTheEnrollmentChanged() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("any", .biometryAny)
        let user = try rooms.user([.silence, .silence, .passcode(Rooms.passcode), .silence])
        defer { user.leave() }
        reader.expect(.match, .match, .match)
        #expect(try rooms.read("s", "any") == "guarded")
        // Only a fingerprint is accepted.
        try user.awaitPrompts(offering: [.finger])
        try rooms.enroll(reader, fingers: 2)
        #expect(try rooms.read("s", "any") == "guarded")
        // A passcode is refused, though it is correct.
        reader.expect(.nothing)
        #expect(refusal { _ = try rooms.read("s", "any") } == .authenticationFailed)
        // Its request to the reader, which may come after its end, must not take the touch of the next one.
        try awaitTrue("the third look for a finger") { reader.asks == 3 }
        reader.expect(.match)
        #expect(try rooms.read("s", "any") == "guarded")
    }

    @Test("An item for the current fingerprints is erased when they change", .proves("C-085"))
    func itemForTheCurrentFingersIsErasedWithThem() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("first", .biometryCurrentSet)
        let user = try rooms.user([.silence, .silence, .silence])
        defer { user.leave() }
        reader.expect(.match, .match, .match)
        #expect(try rooms.read("s", "first") == "guarded")
        let generations = try rooms.keybag().slots.filter { $0.purpose == .enrollmentFactor }.map(\.generation)
        #expect(generations.count == 1)

        // A new enrollment, though the reader has the same fingers: another generation, and the old key no longer exists.
        try rooms.enroll(reader)
        #expect(refusal { _ = try rooms.read("s", "first") } == .biometryNotEnrolled)
        let after = try rooms.keybag()
        #expect(after.slots.allSatisfy { !generations.contains($0.generation) })
        #expect(after.slots.count { $0.purpose == .enrollmentFactor } == 1)

        // A list that changed without the enclave invalidates the item too, for good, even if the old list returns.
        try rooms.addGuarded("second", .biometryCurrentSet)
        #expect(try rooms.read("s", "second") == "guarded")
        try reader.reportChange(of: geteuid(), to: 7)
        try awaitTrue("the enrollment's end") { try !rooms.biometry.isEnrolled }
        #expect(refusal { _ = try rooms.read("s", "second") } == .biometryNotEnrolled)
        #expect(try rooms.authentication.status().device.warnings.contains { $0.contains("list of enrolled fingers") })
        try rooms.enroll(reader)
        #expect(refusal { _ = try rooms.read("s", "second") } == .biometryNotEnrolled)
        // Each prompt appeared while it could be answered.
        try awaitTrue("the prompts") { user.requests.count == 2 }
    }

    /// An unannounced change of the list is noticed with the first match.
    @Test("A match after an unannounced change of the fingerprints opens nothing")
    func aMatchUnderAnotherListOfFingersOpensNothing() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("any", .biometryAny)
        try rooms.addGuarded("set", .biometryCurrentSet)
        let user = try rooms.user([.silence])
        defer { user.leave() }
        reader.setFingers(9)
        reader.expect(.match)
        #expect(refusal { _ = try rooms.read("s", "any") } == .biometryNotEnrolled)
        #expect(refusal { _ = try rooms.read("s", "set") } == .biometryNotEnrolled)
        #expect(try !rooms.biometry.isEnrolled)
    }

    @Test("An access control with `or` accepts either factor") func orAcceptsEitherFactor() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("or", [.biometryCurrentSet, .or, .devicePasscode])
        let user = try rooms.user([.silence, .passcode(Rooms.passcode), .passcode(Rooms.passcode)])
        defer { user.leave() }
        reader.expect(.match, .nothing)
        #expect(try rooms.read("s", "or") == "guarded")
        #expect(try rooms.read("s", "or") == "guarded")
        // When one method becomes invalid, the other remains.
        try rooms.enroll(reader, fingers: 3)
        #expect(try rooms.read("s", "or") == "guarded")
        try awaitTrue("the prompts") { user.requests.prefix(2).map(\.methods) == [[.passcode, .finger], [.passcode, .finger]] }
    }

    @Test("An access control with `and` needs both factors, in any order") func andNeedsBothInAnyOrder() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("and", [.biometryAny, .and, .devicePasscode])
        // It is for the second request, which the reader may receive only after the passcode.
        let touch = ScriptedUser.Answer.act {
            _ = reader.awaitRequest() && reader.awaitRequest()
            reader.touch()
        }
        let user = try rooms.user([
            .silence, .passcode(Rooms.passcode), .passcode(Rooms.passcode), touch, .silence, .cancel, .passcode(Rooms.passcode), .cancel,
        ])
        defer { user.leave() }
        reader.expect(.match)
        #expect(try rooms.read("s", "and") == "guarded")
        try user.awaitPrompts(offering: [[.passcode, .finger], .passcode])
        #expect(try rooms.read("s", "and") == "guarded")
        try awaitTrue("the prompts") { user.requests.suffix(2).map(\.methods) == [[.passcode, .finger], .finger] }
        // Neither of the two is enough alone.
        reader.expect(.match)
        #expect(refusal { _ = try rooms.read("s", "and") } == .cancelled)
        #expect(refusal { _ = try rooms.read("s", "and") } == .cancelled)
        try awaitTrue("the prompts") { user.requests.count == 8 }
    }

    @Test(
        "Three misses end the fingerprint of a prompt, and five end all until the passcode",
        .proves("C-137", "C-138", "C-139", "C-140", "C-141", "C-148"))
    func threeMissesEndAPromptsFingerAndFiveEndAllUntilThePasscode() throws {
        let known = try RoomsWithFinger(unlocks: true)
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        try rooms.addGuarded("any", .biometryAny)
        let borrower = try rooms.user([.silence, .cancel, .silence, .cancel])
        reader.expect(.miss, .miss, .miss, .miss, .miss)
        // Touches of another finger: three in the first prompt, which then no longer accepts a fingerprint.
        #expect(refusal { _ = try rooms.read("s", "p") } == .cancelled)
        try borrower.awaitPrompts(offering: [[.passcode, .finger], .passcode])
        #expect(reader.asks == 3)
        #expect(try rooms.biometry.missesLeft == 2)
        #expect(try rooms.biometry.isReady)
        // Two more, and fingerprints no longer count.
        #expect(refusal { _ = try rooms.read("s", "p") } == .cancelled)
        #expect(reader.asks == 5)
        borrower.leave()
        #expect(try !rooms.biometry.isReady)
        #expect(refusal { _ = try rooms.read("s", "any") } == .biometryLockedOut)
        #expect(refusal { try rooms.authentication.evaluate(.biometry, reason: "try") } == .biometryLockedOut)
        #expect(refusal { try rooms.authentication.canEvaluate(.biometry) } == .biometryLockedOut)
        try rooms.authentication.lock()
        #expect(refusal { try rooms.authentication.unlockByFinger() } == .biometryLockedOut)
        #expect(reader.asks == 5)

        // The user: the passcode is the only method for the item, and with it fingerprints count again.
        try rooms.unlock()
        let owner = try rooms.user([.silence, .silence])
        defer { owner.leave() }
        #expect(try rooms.biometry.missesLeft == 5)
        reader.expect(.match, .match)
        #expect(try rooms.read("s", "any") == "guarded")
        #expect(try rooms.read("s", "p") == "guarded")
    }

    /// The prompt's own passcode re-enables fingerprints too, and is the only method while they are disabled.
    @Test("A passcode in a prompt makes fingerprints count again", .proves("C-139", "C-140"))
    func aPasscodeInAPromptMakesFingersCountAgain() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        let user = try rooms.user([.silence, .cancel, .silence, .cancel, .passcode(Rooms.passcode), .silence])
        defer { user.leave() }
        reader.expect(.miss, .miss, .miss, .miss, .miss)
        for _ in 1...2 { #expect(refusal { _ = try rooms.read("s", "p") } == .cancelled) }
        #expect(try rooms.read("s", "p") == "guarded")
        try awaitTrue("the prompts") { user.requests.last?.methods == .passcode }
        reader.expect(.match)
        #expect(try rooms.read("s", "p") == "guarded")
        try awaitTrue("the prompts") { user.requests.last?.methods == [.passcode, .finger] }
    }
}
