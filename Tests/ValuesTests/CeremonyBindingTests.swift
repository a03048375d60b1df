import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER

/// What a ceremony's passcode is bound to is written the same way by everybody, and differently for every ceremony.
@Suite struct CeremonyBindingTests {
    private static func octets(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
    private static let new = SealedPasscode(encapsulated: octets(4, 32), ciphertext: octets(5, 22))
    private static let key = SealedPasscode(encapsulated: octets(6, 32), ciphertext: octets(7, 64))
    private static let newBytes = [0x30, 0x3A, 0x04, 0x20] + octets(4, 32) + [0x04, 0x16] + octets(5, 22)
    private static let keyBytes = [0xA0, 0x66, 0x30, 0x64, 0x04, 0x20] + octets(6, 32) + [0x04, 0x40] + octets(7, 64)

    /// Every ceremony, with every optional secret present in one and absent in another.
    static let known: [(binding: CeremonyBinding, bytes: [UInt8])] = [
        (.setPasscode(recoveryKey: nil), [0x30, 0x05, 2, 1, 1, 0xAC, 0x00]),
        (.setPasscode(recoveryKey: key), [0x30, 0x6D, 2, 1, 1, 0xAC, 0x68] + keyBytes),
        (.changePasscode(new: new, rolls: false), [0x30, 0x44, 2, 1, 1, 0xAD, 0x3F] + newBytes + [1, 1, 0x00]),
        (.changePasscode(new: new, rolls: true), [0x30, 0x44, 2, 1, 1, 0xAD, 0x3F] + newBytes + [1, 1, 0xFF]),
        (.removePasscode, [0x30, 0x05, 2, 1, 1, 0xB2, 0x00]),
        (.erase, [0x30, 0x05, 2, 1, 1, 0xB3, 0x00]),
        (.recover(new: new, newRecoveryKey: nil), [0x30, 0x41, 2, 1, 1, 0xB4, 0x3C] + newBytes),
        (.recover(new: new, newRecoveryKey: key), [0x30, 0x81, 0xAA, 2, 1, 1, 0xB4, 0x81, 0xA4] + newBytes + keyBytes),
        (.setRecoveryKey(nil), [0x30, 0x05, 2, 1, 1, 0xB5, 0x00]),
        (.setRecoveryKey(key), [0x30, 0x6D, 2, 1, 1, 0xB5, 0x68] + keyBytes),
        (
            .configure(LockSettings(graceSeconds: 30, idleSeconds: 600, locksWithScreen: true)),
            [0x30, 0x11, 2, 1, 1, 0xB6, 0x0C, 0x30, 0x0A, 2, 1, 0x1E, 2, 2, 0x02, 0x58, 1, 1, 0xFF]
        ),
        (.enrol(unlocks: false), [0x30, 0x08, 2, 1, 1, 0xB7, 0x03, 1, 1, 0x00]),
        (.enrol(unlocks: true), [0x30, 0x08, 2, 1, 1, 0xB7, 0x03, 1, 1, 0xFF]),
        (.forgetFingers, [0x30, 0x05, 2, 1, 1, 0xB8, 0x00]),
        (.listFingers, [0x30, 0x05, 2, 1, 1, 0xBD, 0x00]),
    ]

    @Test func everyBindingIsWhatTheSpecificationWrites() throws {
        for answer in Self.known { #expect(try answer.binding.encoded() == answer.bytes, "\(answer.binding)") }
        #expect(Set(Self.known.map(\.bytes)).count == Self.known.count)
    }

    @Test func theSpecificationsExampleIsWhatTheCodeWrites() throws {
        let document = try SpecDocument("enclave-wire")
        #expect(try document.example("ceremony binding") == CeremonyBinding.changePasscode(new: Self.new, rolls: true).encoded())
    }

    /// A secret of the request that were missing here could be replaced on its way.
    @Test func theOtherSecretsAreThoseThatAreBound() throws {
        for (binding, bytes) in Self.known {
            for other in binding.otherSecrets.compactMap({ $0 }) {
                let written = try other.encoded()
                #expect(bytes.indices.contains { bytes[$0...].starts(with: written) }, "\(binding)")
            }
        }
        #expect(CeremonyBinding.recover(new: Self.new, newRecoveryKey: Self.key).otherSecrets == [Self.new, Self.key])
        #expect(CeremonyBinding.recover(new: Self.new, newRecoveryKey: nil).otherSecrets == [Self.new, nil])
        #expect(CeremonyBinding.changePasscode(new: Self.new, rolls: true).otherSecrets == [Self.new])
        #expect(CeremonyBinding.setRecoveryKey(Self.key).otherSecrets == [Self.key])
        #expect(CeremonyBinding.setPasscode(recoveryKey: Self.key).otherSecrets == [Self.key])
    }
}
