// Private keys in memory: those in use while their class is open, and none of class A after a lock.

import Enclave
import EnclaveBook
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeyWire
import VaubanKeychainClient
import VaubanRefusal

extension MemoryScanTests {
    private static let digest = [UInt8](repeating: 0x5A, count: 32)

    private func use(_ key: EnclaveKey, by client: KeyClient) throws {
        guard case .signature = try client.use(key, for: .sign, input: Self.digest) else { throw Refusal(.internalError) }
        let peer = key.publicKey
        guard case .shared = try client.use(key, for: .exchange, input: peer) else { throw Refusal(.internalError) }
    }

    /// Returns the bytes as specified, and as the library stores a number.
    private func needles(_ name: String, _ bytes: [UInt8]) -> [Needle] {
        [Needle(name: name, bytes: bytes), Needle(name: name, bytes: bytes.reversed())]
    }

    @Test("A lock scrubs private keys", .proves("C-035", "C-156")) func lockScrubsPrivateKeys() throws {
        let rooms = try readableRooms()
        try rooms.setPasscode(Self.passcode)
        let client = KeyClient(service: rooms.service)
        let whileUnlocked = try client.make(.p256, AccessControl(protection: .whenUnlocked, flags: []))
        let always = try client.make(.p256, AccessControl(protection: .afterFirstUnlock, flags: []))
        let asking = try client.make(.p256, AccessControl(protection: .whenUnlocked, flags: [.privateKeyUsage, .userPresence]))
        for key in [whileUnlocked, always] { try use(key, by: client) }
        let user = try rooms.user([.passcode(Self.passcode), .passcode(Self.passcode)])
        try use(asking, by: client)
        user.leave()

        let bag = try rooms.keybag()
        let keys = try rooms.state.keys(of: bag, passcodeKey: rooms.state.passcodeKey(Self.passcode, of: bag).key)
        let outer = keys.filter { $0.slot.wrapping == .classKey }.map { Needle(name: "key of \($0.slot.purpose)", bytes: $0.key) }
        #expect(outer.count == 2)
        let open = try needles("private key of class A", rooms.state.privateKey(whileUnlocked, with: keys))
        let stays = try needles("private key of class C", rooms.state.privateKey(always, with: keys))
        let enclave = try rooms.process(of: "enclaved")
        let before = try scan(enclave, open + stays + outer)
        report("enclaved, unlocked", before)
        #expect(before.names.isSuperset(of: ["private key of class A", "private key of class C"]))

        try rooms.authentication.lock()
        let locked = try scan(enclave, open + stays + outer)
        report("enclaved, locked", locked)
        // The key of class C shows that the scan finds keys.
        #expect(locked.names == ["private key of class C"])
        for room in ["keychaind", "authd"] {
            let other = try scan(try rooms.process(of: room), open + stays + outer)
            #expect(other.names.isEmpty, "\(room): \(other.names)")
        }
        #expect(refusal { try use(whileUnlocked, by: client) } == .locked)
        try use(always, by: client)
        try rooms.unlock(Self.passcode)
        try use(whileUnlocked, by: client)
    }
}
