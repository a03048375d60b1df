import Crypto
import Enclave
import EnclaveSoftware
import Foundation
import TestSupport
import Testing
import VaubanLinuxHost
import VaubanSecretBytes

/// Known answers. RFC 7914 publishes those for scrypt, the authors of RFC 9180 those for HPKE. Those for our own compositions (labels,
/// contexts, what is tangled with what) are ours: Vectors/, made by a script beside the specification.
@Suite struct VectorTests {
    private static let counting = [UInt8](0..<32)

    private func key(_ bytes: [UInt8] = counting) -> SecretBytes { SecretBytes(copying: bytes) }

    // MARK: Published

    @Test("The derivation matches the vectors of RFC 7914") func scryptIsThatOfRFC7914() throws {
        let vectors: [(passcode: String, salt: String, log2Rounds: Int64, parallelism: Int64, first32: String)] = [
            ("password", "NaCl", 10, 16, "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"),
            ("pleaseletmein", "SodiumChloride", 14, 1, "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"),
        ]
        for vector in vectors {
            let parameters = StretchParameters(
                salt: Array(vector.salt.utf8), log2Rounds: vector.log2Rounds, blockSize: 8, parallelism: vector.parallelism)
            // The stored parameters determine the cost of a guess, regardless of what the stretcher uses now.
            let stretched = try PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)).stretch(secret(vector.passcode), parameters)
            #expect(hexadecimal(bytes(stretched)) == vector.first32)
        }
    }

    /// The base-mode vector of RFC 9180's authors for our suite (kem 32, kdf 1, aead 2), from their test-vectors.json.
    @Test("The seals' HPKE suite matches RFC 9180") func theSuiteOfTheSealsIsThatOfRFC9180() throws {
        let privateKey = try Curve25519.KeyAgreement.PrivateKey(
            rawRepresentation: octets("497b4502664cfea5d5af0b39934dac72242a74f8480451e1aee7d6a53320333d"))
        var recipient = try HPKE.Recipient(
            privateKey: privateKey, ciphersuite: HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256),
            info: Data("Ode on a Grecian Urn".utf8),
            encapsulatedKey: Data(octets("6c93e09869df3402d7bf231bf540fadd35cd56be14f97178f0954db94b7fc256")))
        let sealed = octets("e5d84cd531cfb583096e7cfa9641bd3079cf3a91cda813c52deb5f512be9931980a41de125a925cdad859d5b7a")
        #expect(try recipient.open(sealed, authenticating: Data("Count-0".utf8)) == Data("Beauty is truth, truth beauty".utf8))
    }

    @Test("The shipped cost matches the specification") func theShippedCostIsThatOfTheSpecification() {
        let cost = StretchCost.shipped
        #expect(cost.log2Rounds == 17 && cost.blockSizeMin == 8 && cost.time == 250_000_000)
        // A machine on which the lowest cost takes 217 ms, a slower one, a faster one, and one that is impossibly fast.
        #expect(cost.work(measured: 217_000_000) == 10 && cost.work(measured: 300_000_000) == 8)
        #expect(cost.work(measured: 125_000_000) == 16 && cost.work(measured: 1_000_000) == 32)
        // Every cost that a machine's speed calls for can be derived: the library accepts a block size of at most 16 for one pass.
        for work in 8...32 as ClosedRange<Int64> {
            let (blockSize, passes) = cost.shape(work, atLeast: nil)
            #expect(blockSize * passes >= work && blockSize >= 8 && blockSize <= 16 && passes == (work <= 16 ? 1 : 2))
            let parameters = StretchParameters(
                salt: [UInt8](repeating: 1, count: 32), log2Rounds: 4, blockSize: blockSize, parallelism: passes)
            #expect(throws: Never.self) {
                _ = try PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)).stretch(secret("a"), parameters)
            }
            // With little memory, passes over 128 MiB do the same work.
            let small = cost.within(memory: 256 << 20).shape(work, atLeast: nil)
            #expect(small.blockSize * small.passes >= work && small.blockSize == 8)
            let later = cost.shape(8, atLeast: parameters)
            #expect(later.blockSize >= blockSize && later.passes >= passes)
        }
    }

    @Test("A machine with enough memory gets the normal cost") func aMachineWithEnoughMemoryIsTreatedAsAnyOther() {
        for memory in [nil, 512 << 20, UInt64.max] as [UInt64?] {
            #expect(StretchCost.shipped.within(memory: memory).shape(16, atLeast: nil) == (16, 1))
        }
        #expect(StretchCost.shipped.within(memory: (512 << 20) - 1).shape(16, atLeast: nil) == (8, 2))
    }

    // MARK: Our own compositions

    @Test("Keys are derived as the vectors say") func derivedKeys() throws {
        for answer in try KnownAnswers.load().derive {
            let derived = KeyWrap.derive(from: key(octets(answer.key)), label: answer.label, context: octets(answer.context))
            #expect(hexadecimal(bytes(derived)) == answer.derived)
        }
    }

    @Test("The wrapped key of the vectors is unwrapped, and only with its binding") func aWrappedKey() throws {
        let answer = try KnownAnswers.load().wrap
        let opened = try KeyWrap.unwrap(
            octets(answer.wrapped), under: key(octets(answer.key)), label: answer.label, context: octets(answer.context))
        #expect(hexadecimal(bytes(opened)) == answer.secret)
        #expect(throws: WrapError.self) {
            _ = try KeyWrap.unwrap(
                octets(answer.wrapped), under: key(octets(answer.key)), label: "vauban keybag slot v2", context: octets(answer.context))
        }
        // A nonce is never used twice.
        let again = try (0..<64).map { _ in try KeyWrap.wrap(opened, under: key(), label: "l", context: []).prefix(12) }
        #expect(Set(again).count == again.count)
    }

    @Test("A label with its context never equals another label") func aLabelAndItsContextAreNotAnotherLabel() throws {
        let wrapped = try KeyWrap.wrap(key(), under: key(), label: "ab", context: [])
        #expect(throws: WrapError.self) { _ = try KeyWrap.unwrap(wrapped, under: key(), label: "a", context: Array("b".utf8)) }
        #expect(bytes(KeyWrap.derive(from: key(), label: "ab")) != bytes(KeyWrap.derive(from: key(), label: "a", context: Array("b".utf8))))
    }

    @Test("The authentication code of a state file is as specified") func anAuthenticationCode() {
        let state = KeyWrap.derive(from: key(), label: "vauban state authentication v1")
        let covered = Array("keybag".utf8) + [0, 0, 0, 0x03, 0xE8] + Array("content".utf8)
        let code = KeyWrap.authenticationCode(of: covered, under: state)
        #expect(hexadecimal(code) == "8b45a6a7b5d78d66d351b2737d505785e13049abb4cd956ad9d2654b6238fadd")
        #expect(KeyWrap.isValid(code, of: covered, under: state) && !KeyWrap.isValid(code, of: covered + [0], under: state))
    }

    /// The shipped backend with a known secret in its file.
    @Test("A known device secret derives the keys of the vectors") func theDeviceSecretsKeys() throws {
        let answers = try KnownAnswers.load()
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-vector-\(UUID().uuidString)").path
        let folder = try PrivateFolder(path: path, creating: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try DurableFile("device-secret", in: folder).replace(with: Array("vauban device secret 1\n".utf8) + octets(answers.deviceSecret))
        let device = try DeviceSecret(in: folder)
        #expect(hexadecimal(device.deviceIdentifier) == answers.device)
        for answer in answers.derive {
            #expect(hexadecimal(bytes(try device.deviceKey(label: answer.label, context: octets(answer.context)))) == answer.derived)
        }
        let answer = answers.passcodeKey
        let parameters = StretchParameters(
            salt: octets(answer.salt), log2Rounds: answer.log2Rounds, blockSize: answer.blockSize, parallelism: answer.parallelism)
        let stretched = try PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)).stretch(secret(answers.passcode), parameters)
        #expect(hexadecimal(bytes(stretched)) == answer.stretched)
        let tangled = try device.tangle(stretched, label: "vauban keybag passcode wrap v1", context: octets(answer.context))
        #expect(hexadecimal(bytes(tangled)) == answer.tangled)
    }
}
