import Crypto
import Enclave
import EnclaveBook
import EnclaveWire
import Foundation
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanSecretBytes

/// What an independent reader needs to open a row: the files, the passcode, the device secret and the specification.
@Suite struct ByTheBookTests {
    private let bench = Workbench()

    private func passcodeKey(_ passcode: String, _ bag: Keybag) throws -> SecretBytes {
        let parameters = try #require(bag.passcode)
        let stretched = try PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)).stretch(secret(passcode), parameters)
        return try bench.device.tangle(stretched, label: "vauban keybag passcode wrap v1", context: bag.identifier)
    }

    @Test(arguments: [nil, AccessControlFlags.userPresence, .devicePasscode], Protection.allCases)
    func aRowOpensFromTheSpecificationAlone(_ flags: AccessControlFlags?, _ protection: Protection) throws {
        let vault = try bench.startProtected()
        let sealed = try SealedRow(bench.row(protection, flags), in: vault)
        let bag = try bench.keybag()
        let passcodeKey = try passcodeKey(Workbench.passcode, bag)
        let binding = try sealed.row.encoded()

        let classSlot = try #require(bag.slot(.protection(protection), generation: sealed.row.generation))
        let classKey = bytes(try ByTheBook.slotKey(classSlot, of: bag, device: bench.device, passcodeKey: passcodeKey))
        let wrapped = try ByTheBook.fields(sealed.wrapped)
        #expect(wrapped[0] == [1] && wrapped[1] == [flags == nil ? 0 : 1])
        guard flags != nil else {
            #expect(try ByTheBook.open(wrapped[2], classKey, "vauban item key v1", binding) == sealed.key)
            return
        }

        let seal = try ByTheBook.fields(ByTheBook.open(wrapped[2], classKey, "vauban item key of a factor v1", binding))
        let factor: KeyPurpose = flags == .userPresence ? .presenceFactor : .passcodeFactor
        let pair = try #require(bag.slot(factor, generation: seal[0]))
        let privateKey = bytes(try ByTheBook.slotKey(pair, of: bag, device: bench.device, passcodeKey: passcodeKey))
        let key = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: privateKey)
        #expect(Array(key.publicKey.rawRepresentation) == pair.publicKey)
        var recipient = try HPKE.Recipient(
            privateKey: key, ciphersuite: HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256),
            info: Data("vauban factor seal v1".utf8) + [0] + binding, encapsulatedKey: Data(seal[1]))
        #expect(Array(try recipient.open(seal[2])) == sealed.key)
    }

    @Test func aStateFileIsReadFromTheSpecificationAlone() throws {
        _ = try bench.startProtected()
        for name in StateName.allCases {
            let envelope = try ByTheBook.fields(try #require(bench.store.files["1000/\(name.rawValue)"]))
            #expect(envelope[0] == [1] && envelope[1] == bench.device.deviceIdentifier)
            let key = SymmetricKey(data: bytes(try bench.device.deviceKey(label: "vauban state authentication v1", context: [])))
            let covered = Array(name.rawValue.utf8) + [0] + ByTheBook.bigEndian(Workbench.person) + envelope[2]
            #expect(HMAC<SHA256>.isValidAuthenticationCode(envelope[3], authenticating: covered, using: key))
        }
    }

    /// The slots that the passcode protects, opened with the device secret alone or the passcode alone, stay closed.
    @Test func passcodeAndDeviceAreBothNeeded() throws {
        _ = try bench.startProtected()
        let bag = try bench.keybag()
        let slot = try #require(bag.current(.protection(.whenUnlocked)))
        let context = ByTheBook.slotContext(slot, of: bag)
        let parameters = try #require(bag.passcode)
        let stretched = try PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)).stretch(secret(Workbench.passcode), parameters)
        let keys = [
            bytes(stretched), bytes(try bench.device.deviceKey(label: "vauban keybag device wrap v1", context: bag.identifier)),
            bytes(try bench.device.deviceKey(label: "vauban keybag passcode wrap v1", context: bag.identifier)),
            bytes(try MemoryDevice(2).tangle(stretched, label: "vauban keybag passcode wrap v1", context: bag.identifier)),
        ]
        for key in keys {
            #expect(throws: (any Error).self) { try ByTheBook.open(slot.wrapped, key, "vauban keybag slot v1", context) }
        }
        let right = bytes(try passcodeKey(Workbench.passcode, bag))
        #expect(try ByTheBook.open(slot.wrapped, right, "vauban keybag slot v1", context).count == 32)
    }
}
