// Private keys that require a fingerprint: any enrolled one, or one of the current enrollment.

import Foundation
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeyWire
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

@Suite("Keys of the enclave and fingers", .serialized)
struct EnclaveKeyFingerTests {
    private static let digest = [UInt8](repeating: 3, count: 32)

    private func make(_ rooms: Rooms, _ flags: AccessControlFlags) throws -> EnclaveKey {
        try KeyClient(service: rooms.service).make(.p256, AccessControl(protection: .whenUnlocked, flags: [.privateKeyUsage, flags]))
    }

    private func sign(_ rooms: Rooms, _ key: EnclaveKey) -> Refusal.Reason? {
        refusal {
            _ = try KeyClient(service: rooms.service).use(key, for: .sign, input: Self.digest, prompting: KeyPrompting(reason: "approve"))
        }
    }

    @Test("A key for any fingerprint can also be used after another enrollment", .proves("C-084", "C-176"))
    func anyFingerUsesItsKeyAlsoAfterTheEnrollmentChanged() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        let key = try make(rooms, .biometryAny)
        let user = try rooms.user([.silence, .silence, .passcode(Rooms.passcode)])
        defer { user.leave() }
        reader.expect(.match, .match)
        #expect(sign(rooms, key) == nil)
        try rooms.enroll(reader, fingers: 2)
        #expect(sign(rooms, key) == nil)
        // A passcode does not replace a fingerprint.
        reader.expect(.nothing)
        #expect(sign(rooms, key) == .authenticationFailed)
        try user.awaitPrompts(offering: [.finger, .finger, .finger])
        #expect(user.requests.allSatisfy { $0.operation == .sign && $0.reason == "approve" })
    }

    /// A second factor for this user alone: a finger enrolled later cannot use it.
    @Test("A key for the current fingerprints is erased when they change", .proves("C-085", "C-171"))
    func keyForTheCurrentFingersIsErasedWithThem() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        let key = try make(rooms, .biometryCurrentSet)
        let user = try rooms.user([.silence, .silence])
        defer { user.leave() }
        reader.expect(.match, .miss, .miss, .miss)
        #expect(sign(rooms, key) == nil)
        #expect(sign(rooms, key) != nil)
        try rooms.enroll(reader, fingers: 2)
        #expect(sign(rooms, key) == .biometryNotEnrolled)
        // A use that cannot succeed does not prompt. A touch may be faster than the agent.
        try user.awaitPrompts(offering: [.finger, .finger])
    }
}
