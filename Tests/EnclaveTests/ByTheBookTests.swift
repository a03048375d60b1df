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

    static let kinds: [AccessControlFlags?] = [
        nil, .userPresence, .devicePasscode, .biometryAny, .biometryCurrentSet, [.or, .biometryCurrentSet, .devicePasscode],
        [.and, .biometryAny, .devicePasscode], .applicationPassword, [.and, .biometryCurrentSet, .devicePasscode, .applicationPassword],
    ]

    /// With the passcode and the files alone: every method of a row, from the outside in.
    @Test("A row opens with the passcode and the files by the specification alone", arguments: kinds, ProtectionClass.allCases)
    func aRowOpensFromTheSpecificationAlone(_ flags: AccessControlFlags?, _ protection: ProtectionClass) throws {
        let (vault, _) = try bench.startEnrolled()
        let password = flags?.contains(.applicationPassword) == true ? "application's" : nil
        let sealed = try SealedRow(bench.row(protection, flags), in: vault, password: password)
        let bag = try bench.keybag()
        let passcodeKey = try passcodeKey(Workbench.passcode, bag)
        let binding = try sealed.row.encoded(), itemBinding = try sealed.row.with(generation: [UInt8](repeating: 0, count: 8)).encoded()

        let classSlot = try #require(bag.slots.first { $0.purpose == .protection(protection) && $0.generation == sealed.row.generation })
        let classKey = bytes(try ByTheBook.slotKey(classSlot, of: bag, device: bench.device, passcodeKey: passcodeKey))
        let wrapped = try ByTheBook.nodes(sealed.wrapped)
        #expect(wrapped[0].octets == [1] && wrapped[1].octets == [flags == nil ? 0 : 2])
        guard flags != nil else {
            #expect(try ByTheBook.open(wrapped[2].octets, key: classKey, label: "vauban item key v1", context: binding) == sealed.key)
            return
        }
        let layered = try ByTheBook.nodes(
            ByTheBook.open(wrapped[2].octets, key: classKey, label: "vauban layered item key v1", context: binding))
        #expect(layered[0].nodes.count == (flags?.contains(.or) == true ? 2 : 1))
        for way in layered[0].nodes {
            var content = way.nodes[1].octets
            for seal in way.nodes[0].nodes.reversed() {
                let pair = try #require(bag.slots.first { $0.generation == seal.nodes[0].octets && $0.publicKey != nil })
                let privateKey = bytes(try ByTheBook.slotKey(pair, of: bag, device: bench.device, passcodeKey: passcodeKey))
                let key = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: privateKey)
                #expect(Array(key.publicKey.rawRepresentation) == pair.publicKey)
                var recipient = try HPKE.Recipient(
                    privateKey: key, ciphersuite: HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256),
                    info: Data("vauban factor seal v1".utf8) + [0] + itemBinding, encapsulatedKey: Data(seal.nodes[1].octets))
                content = Array(try recipient.open(content))
            }
            if let password {
                let numbers = try #require(layered.last?.nodes.first?.nodes)
                let parameters = StretchParameters(salt: numbers[0].octets, log2Rounds: 4, blockSize: 1, parallelism: 1)
                #expect(numbers.dropFirst().map(\.octets) == [[4], [1], [1]])
                let stretched = try PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)).stretch(secret(password), parameters)
                content = try ByTheBook.open(content, key: bytes(stretched), label: "vauban application password v1", context: itemBinding)
            }
            #expect(content == sealed.key)
        }
    }

    @Test("A state file can be decoded from the specification alone") func aStateFileIsReadFromTheSpecificationAlone() throws {
        _ = try bench.startProtected()
        for name in [StateName.keybag, .attempts] {
            let envelope = try ByTheBook.fields(try #require(bench.store.files["1000/\(name.rawValue)"]))
            #expect(envelope[0] == [1] && envelope[1] == bench.device.deviceIdentifier)
            let key = SymmetricKey(data: bytes(try bench.device.deviceKey(label: "vauban state authentication v1", context: [])))
            let covered = Array(name.rawValue.utf8) + [0] + ByTheBook.bigEndian(Workbench.user) + envelope[2]
            #expect(HMAC<SHA256>.isValidAuthenticationCode(envelope[3], authenticating: covered, using: key))
        }
    }

    /// The slots that the passcode protects stay closed with the device secret alone or the passcode alone.
    @Test("Both passcode and device are needed") func passcodeAndDeviceAreBothNeeded() throws {
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
            #expect(throws: (any Error).self) {
                try ByTheBook.open(slot.wrapped, key: key, label: "vauban keybag slot v1", context: context)
            }
        }
        let right = bytes(try passcodeKey(Workbench.passcode, bag))
        #expect(try ByTheBook.open(slot.wrapped, key: right, label: "vauban keybag slot v1", context: context).count == 32)
    }
}
