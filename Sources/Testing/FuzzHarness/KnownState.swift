import Crypto
import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
import VaubanSecretBytes

// State in which every key is derived from its name, so that a stored input means the same in every run, and a key from elsewhere is
// detected.

enum KnownState {
    static let identifier = [UInt8](repeating: 0xBA, count: 16)
    static let parameters = StretchParameters(salt: Array(repeating: 0x33, count: 32), log2Rounds: 4, blockSize: 1, parallelism: 1)

    /// Returns the current generation of a purpose, or an older one.
    static func generation(_ purpose: KeyPurpose, older: Bool = false) -> [UInt8] {
        [UInt8(purpose.number), older ? 2 : 1] + [UInt8](repeating: 0x77, count: 6)
    }

    static func key(_ purpose: KeyPurpose, _ generation: [UInt8]) -> SecretBytes {
        KeyWrap.derive(
            from: SecretBytes(copying: Array(repeating: 0xC3, count: 32)), label: "key of the fuzzers",
            context: [UInt8(purpose.number)] + generation)
    }

    static func isKnown(_ generation: [UInt8], of purpose: KeyPurpose) -> Bool {
        generation == Self.generation(purpose) || generation == Self.generation(purpose, older: true)
    }

    /// Returns a keybag as the enclave creates it: with a passcode and older generations, or without.
    static func keybag(hasPasscode: Bool) throws -> Keybag {
        var bag = Keybag(
            identifier: identifier, user: FuzzMachine.user, device: FuzzDevice().deviceIdentifier, slots: [],
            passcode: hasPasscode ? parameters : nil)
        let device = try FuzzDevice().deviceKey(label: "vauban keybag device wrap v1", context: identifier)
        let passcode = try passcodeKey()
        for purpose in KeyPurpose.classes + [.firstUnlockIndex, .deviceIndex] + KeyPurpose.factors {
            if purpose.isPasscodeClass && !hasPasscode { continue }
            let isOfDevice = !hasPasscode || purpose.availability == .always
            for isOlder in hasPasscode && purpose == .protection(.whenUnlocked) ? [false, true] : [false] {
                let generation = generation(purpose, older: isOlder)
                let wrapping: KeySlot.Wrapping = isOfDevice ? .device : .passcodeAndDevice
                let context =
                    identifier + withUnsafeBytes(of: FuzzMachine.user.bigEndian) { Array($0) } + [
                        UInt8(purpose.number), UInt8(wrapping.rawValue),
                    ]
                    + generation
                let key = key(purpose, generation)
                let wrapped =
                    isOfDevice
                    ? try KeyWrap.wrap(key, under: device, label: "vauban keybag slot v1", context: context)
                    : try KeyWrap.wrap(key, under: passcode, label: "vauban keybag slot v1", context: context)
                let publicKey =
                    purpose.isFactor
                    ? Array(
                        try key.withUnsafeBytes { try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }.publicKey
                            .rawRepresentation) : nil
                bag.slots.append(
                    KeySlot(purpose: purpose, generation: generation, wrapping: wrapping, wrapped: wrapped, publicKey: publicKey))
            }
        }
        return bag
    }

    private static func passcodeKey() throws -> SecretBytes {
        let stretcher = PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1))
        let stretched = try stretcher.stretch(SecretBytes(copying: FuzzMachine.passcode), parameters)
        return try FuzzDevice().tangle(stretched, label: "vauban keybag passcode wrap v1", context: identifier)
    }

    static func envelope(_ content: [UInt8], _ name: StateName) throws -> [UInt8] {
        try StateEnvelope(content: content, name: name, user: FuzzMachine.user, backend: FuzzDevice()).encoded()
    }

    /// Returns both files, complete and authenticated.
    static func files(hasPasscode: Bool) throws -> [StateName: [UInt8]] {
        [
            .keybag: try envelope(keybag(hasPasscode: hasPasscode).encoded(), .keybag),
            .attempts: try envelope(AttemptRecord(keybag: identifier).encoded(), .attempts),
        ]
    }

    static func row(_ protection: ProtectionClass, _ flags: AccessControlFlags? = nil) -> RowBinding {
        RowBinding(
            user: FuzzMachine.user, protection: protection, generation: generation(.protection(protection)),
            item: Array(repeating: 1, count: 16),
            version: Array(repeating: 2, count: 16), kind: 1, accessGroup: "unsigned",
            accessControl: flags.flatMap { try? AccessControl(protection: protection, flags: $0) })
    }
}
