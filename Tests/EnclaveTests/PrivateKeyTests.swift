import Crypto
import Enclave
import EnclaveWire
import Foundation
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanKeyWire
import VaubanRefusal
import VaubanSecretBytes

/// What happens to private keys when the device, its passcode and its class keys change.
@Suite struct PrivateKeyTests {
    private let bench = Workbench()
    private static let digest = SHA256.hash(data: Data("a message".utf8))

    private func reason(_ body: () throws -> Void) -> Refusal.Reason? { refusal(body)?.reason }

    private func control(_ protection: ProtectionClass, _ flags: AccessControlFlags = []) throws -> AccessControl {
        try AccessControl(protection: protection, flags: flags)
    }

    /// Signs with a key without an access control, and verifies the signature with the key's public half.
    private func signs(_ key: EnclaveKey, in vault: Vault) throws -> Bool {
        guard case .opened(let secret) = try vault.open(key, for: .sign) else { return false }
        guard case .signature(let raw) = try SoftwareKey(key.kind, secret, for: .sign).use(Array(Self.digest)) else { return false }
        let half = try P256.Signing.PublicKey(x963Representation: key.publicKey)
        return half.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: raw), for: Self.digest)
    }

    @Test("A private key survives every passcode change") func aKeyOutlivesEveryChangeOfThePasscode() throws {
        let vault = bench.start()
        let before = try vault.makeKey(.p256, control(.whenUnlocked))
        #expect(try signs(before, in: vault))
        try vault.setPasscode(secret(Workbench.passcode))
        let after = try vault.makeKey(.p256, control(.whenUnlocked))
        // A key that the device alone wrapped wraps no new key.
        #expect(before.generation != after.generation)
        #expect(try signs(before, in: vault) && signs(after, in: vault))
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode), rolls: true)
        let bag = try bench.keybag()
        try vault.retire(bag.slots.filter { KeyPurpose.classes.contains($0.purpose) && bag.keyStatus(of: $0.name) == .older }.map(\.name))
        #expect(try signs(before, in: vault) && signs(after, in: vault))
        let restarted = bench.start()
        #expect(reason { _ = try signs(before, in: restarted) } == .beforeFirstUnlock)
        try restarted.unlock(secret(Workbench.otherPasscode))
        #expect(try signs(before, in: restarted) && signs(after, in: restarted))
        try restarted.removePasscode(secret(Workbench.otherPasscode))
        #expect(try signs(before, in: restarted) && signs(after, in: restarted))
        #expect(try signs(before, in: bench.start()))
    }

    @Test("A private key is open exactly when its class is", arguments: ProtectionClass.allCases) func aKeyIsOpenWhenItsClassIs(
        _ protection: ProtectionClass
    ) throws {
        let vault = try bench.startProtected()
        let key = try vault.makeKey(.p256, control(protection))
        #expect(try signs(key, in: vault))
        try vault.lock()
        let whileLocked = reason { _ = try signs(key, in: vault) }
        #expect(whileLocked == (protection.availability == .unlocked ? .locked : nil))
        #expect(reason { _ = try vault.makeKey(.p256, control(protection)) } == whileLocked)
        let restarted = bench.start()
        #expect(reason { _ = try signs(key, in: restarted) } == (protection.availability == .always ? nil : .beforeFirstUnlock))
    }

    @Test("A private key of the passcode class is destroyed with the passcode")
    func keyOfThePasscodeClassIsDestroyedWithThePasscode() throws {
        #expect(reason { _ = try bench.start().makeKey(.p256, control(.whenPasscodeSetThisDeviceOnly)) } == .passcodeNotSet)
        let vault = try bench.startProtected()
        let key = try vault.makeKey(.p256, control(.whenPasscodeSetThisDeviceOnly))
        try vault.removePasscode(secret(Workbench.passcode))
        #expect(reason { _ = try signs(key, in: vault) } == .keyDestroyed)
    }

    @Test("A private key of another device is refused by name") func aKeyOfAnotherDeviceIsRefusedByName() throws {
        let key = try bench.startProtected().makeKey(.p256, control(.whenUnlocked))
        let other = Workbench(device: 2)
        #expect(reason { _ = try signs(key, in: try other.startProtected()) } == .keyOfAnotherDevice)
        #expect(reason { _ = try signs(key, in: bench.start(1001)) } == .keyOfAnotherDevice)
        let vault = bench.start()
        try vault.erase(secret(Workbench.passcode))
        #expect(reason { _ = try signs(key, in: vault) } == .keyDestroyed)
    }

    /// Every byte of a key is authenticated: if one is altered, the key is invalid or refused.
    @Test("An altered private key is refused") func anAlteredKeyIsRefused() throws {
        let vault = try bench.startProtected()
        let bytes = try vault.makeKey(.p256, control(.whenUnlocked, [.privateKeyUsage])).encoded()
        var reasons: Set<Refusal.Reason> = []
        for index in bytes.indices {
            var altered = bytes
            altered[index] ^= 1
            let why = reason { _ = try signs(EnclaveKey(stored: altered), in: vault) }
            #expect(why != nil, "byte \(index)")
            if let why { reasons.insert(why) }
        }
        #expect(reasons.isSubset(of: [.keyDamaged, .keyOfAnotherDevice, .unsupported, .passcodeNotSet, .badParameter]))
        #expect(reasons.isSuperset(of: [.keyDamaged, .keyOfAnotherDevice]))
    }

    /// A closed class accepts no derivation, and application passwords leave room for the user's passcode.
    @Test("Application passwords do not delay the user's passcode") func applicationPasswordsDoNotDelayThePasscode() async throws {
        let vault = try bench.startProtected()
        let sealed = try control(.whenUnlocked, [.privateKeyUsage, .applicationPassword])
        try vault.lock()
        bench.journal.clear()
        #expect(reason { _ = try vault.makeKey(.p256, sealed, password: secret("of the application")) } == .locked)
        #expect(bench.journal.events.isEmpty)
        let open = try control(.always, [.privateKeyUsage, .applicationPassword])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 { group.addTask { _ = try? vault.makeKey(.p256, open, password: secret("of the application")) } }
            for _ in 0..<4 { group.addTask { #expect(throws: Never.self) { try vault.unlock(secret(Workbench.passcode)) } } }
        }
    }

    @Test("A key of a later version is refused as unsupported") func aKeyOfALaterVersionIsRefusedByName() throws {
        let bytes = try bench.startProtected().makeKey(.p256, control(.whenUnlocked)).encoded()
        let version = try #require(bytes.indices.first { Array(bytes[$0...].prefix(3)) == [2, 1, 1] }) + 2
        var later = bytes
        later[version] = 2
        #expect(reason { _ = try EnclaveKey(stored: later) } == .unsupported)
    }

    @Test("The access control of a key decides each operation") func aControlDecidesEachOperation() throws {
        let vault = try bench.startProtected()
        #expect(reason { _ = try vault.makeKey(.p256, control(.whenUnlocked, .userPresence)) } == .badParameter)
        #expect(reason { _ = try vault.makeKey(.p256, control(.whenUnlocked, [.companion, .privateKeyUsage])) } == .unsupported)
        let key = try vault.makeKey(.p256, control(.whenUnlocked, [.devicePasscode, .privateKeyUsage]))
        for operation in [KeyOperation.sign, .decrypt, .exchange] {
            guard case .layered(let opening) = try vault.open(key, for: operation) else {
                Issue.record("\(operation) asks for nobody")
                continue
            }
            #expect(vault.evaluate(try vault.checkSatisfiable(opening), for: .whenUnlocked, Evidence()) == .prompt(.passcode))
            #expect(reason { _ = try vault.finish(opening, OperationEvidence(), password: nil) } == .authenticationFailed)
            let opened = try vault.finish(opening, vault.shown(vault.authenticate(secret(Workbench.passcode))), password: nil)
            #expect(opened.count == 32)
        }
        #expect(reason { _ = try vault.open(key, for: .decapsulate) } == .badParameter)
    }

    /// The keybag is written in the earlier version as long as that can represent it, so that an earlier Vauban reads it.
    @Test("A keybag without private keys is written in the earlier version") func aKeybagWithoutPrivateKeysStaysAsItWas() throws {
        let vault = try bench.startProtected()
        func version() throws -> UInt8? { try bench.keybag().encoded().dropFirst(6).first }
        #expect(try version() == 4)
        try bench.retireOlderKeys(in: vault)
        #expect(try version() == 2)
        _ = try vault.makeKey(.p256, control(.whenUnlocked))
        #expect(try version() == 4)
        _ = try vault.makeKey(.p256, control(.whenUnlocked))
        #expect(try bench.keybag().slots.count { $0.wrapping == .classKey } == 1)
    }

    @Test("Keys of every kind are created and opened", arguments: EnclaveKeyKind.allCases)
    func keysOfEveryKindAreCreatedAndOpened(_ kind: EnclaveKeyKind) throws {
        let vault = try bench.startProtected()
        let key = try vault.makeKey(kind, control(.whenUnlocked))
        #expect(try key.publicKey.count == kind.publicBytes && EnclaveKey(derBytes: key.encoded()) == key)
        let operation: KeyOperation = kind.supports(.sign) ? .sign : .decapsulate
        guard case .opened(let secret) = try vault.open(key, for: operation) else {
            Issue.record("not open")
            return
        }
        let open = try SoftwareKey(kind, secret, for: operation)
        let message = Array("message".utf8)
        switch kind {
        case .p256: #expect(try signs(key, in: vault))
        case .mldsa65:
            try expectSigned(by: open, message) {
                try MLDSA65.PublicKey(rawRepresentation: key.publicKey).isValidSignature($0, for: message)
            }
        case .mldsa87:
            try expectSigned(by: open, message) {
                try MLDSA87.PublicKey(rawRepresentation: key.publicKey).isValidSignature($0, for: message)
            }
        case .mlkem768: try expectShared(open, MLKEM768.PublicKey(rawRepresentation: key.publicKey).encapsulate())
        case .mlkem1024: try expectShared(open, MLKEM1024.PublicKey(rawRepresentation: key.publicKey).encapsulate())
        }
    }

    private func expectSigned(by key: SoftwareKey, _ message: [UInt8], isValid: ([UInt8]) throws -> Bool) throws {
        guard case .signature(let signature) = try key.use(message) else {
            Issue.record("no signature")
            return
        }
        #expect(try isValid(signature))
    }

    private func expectShared(_ key: SoftwareKey, _ sent: KEM.EncapsulationResult) throws {
        guard case .shared(let shared) = try key.use(Array(sent.encapsulated)) else {
            Issue.record("nothing shared")
            return
        }
        #expect(sent.sharedSecret.withUnsafeBytes { Array($0) } == bytes(shared))
    }
}
