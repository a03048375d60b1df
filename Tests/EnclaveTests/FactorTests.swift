import Enclave
import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// User presence as cryptography: sealing needs no user, and only what the passcode provides opens.
@Suite struct FactorTests {
    private let bench = Workbench()
    static let factors: [AccessControlFlags] = [.userPresence, .devicePasscode]

    /// Sealing derives no passcode key and reads no record of attempts, so no user takes part in it.
    @Test("Sealing never prompts", arguments: factors) func sealingNeverPrompts(_ flags: AccessControlFlags) throws {
        let vault = try bench.startProtected()
        bench.journal.clear()
        _ = try vault.seal(bench.row(.whenUnlocked, flags))
        try vault.lock()
        _ = try vault.seal(bench.row(.afterFirstUnlock, flags))
        let restarted = bench.start()
        for _ in 1...5 { _ = refusal { _ = try restarted.authenticate(secret("wrong one")) } }
        bench.journal.clear()
        _ = try restarted.seal(bench.row(.always, flags))
        #expect(bench.journal.events.isEmpty)

        let unprotected = Workbench()
        let open = unprotected.start()
        _ = try open.lease()
        _ = try open.seal(unprotected.row(.whenUnlocked, flags))
    }

    @Test("Every read prompts again", arguments: factors) func everyReadPromptsAgain(_ flags: AccessControlFlags) throws {
        let vault = try bench.startProtected()
        let sealed = try SealedRow(bench.row(.whenUnlocked, flags), in: vault)
        for _ in 1...3 {
            #expect(try vault.asks(for: sealed) == .passcode)
            #expect(try vault.read(sealed, passcode: Workbench.passcode) == sealed.key)
        }
    }

    @Test("Only the passcode key opens a seal", arguments: factors)
    func onlyThePasscodeKeyOpensASeal(_ flags: AccessControlFlags) throws {
        let vault = try bench.startProtected()
        let opening = try vault.opening(SealedRow(bench.row(.whenUnlocked, flags), in: vault))
        let lent = try vault.lease()
        var keys = try [
            Entropy.bytes(32), bytes(bench.device.deviceKey(label: "vauban keybag device wrap v1", context: bench.keybag().identifier)),
        ]
        for index in lent.lease.keys.indices { keys.append(bytes(lent.keys.part(index * 32..<(index + 1) * 32))) }
        for key in keys {
            let forged = vault.shown(SecretBytes(copying: key))
            #expect(refusal { _ = try vault.finish(opening, forged, password: nil) } != nil)
        }
    }

    /// Without a passcode the device secret wraps the pairs, and presence cannot be proven at all.
    @Test("Without a passcode, user presence always fails", arguments: factors) func withoutAPasscodePresenceAlwaysFails(
        _ flags: AccessControlFlags
    ) throws {
        let vault = bench.start()
        _ = try vault.lease()
        let sealed = try SealedRow(bench.row(.whenUnlocked, flags), in: vault)
        #expect(refusal { _ = try vault.read(sealed, passcode: "anything") }?.reason == .passcodeNotSet)
        try vault.setPasscode(secret(Workbench.passcode))
        #expect(try vault.read(sealed, passcode: Workbench.passcode) == sealed.key)
    }

    @Test("A lock during a prompt refuses the item") func lockDuringAPromptRefusesTheItem() throws {
        let vault = try bench.startProtected()
        let opening = try vault.opening(SealedRow(bench.row(.whenUnlocked, .userPresence), in: vault))
        let shown = try vault.gather(Workbench.passcode)
        try vault.lock()
        #expect(refusal { _ = try vault.finish(opening, shown, password: nil) }?.reason == .locked)
        try vault.unlock(secret(Workbench.passcode))
        _ = try vault.finish(opening, shown, password: nil)
    }

    @Test("A lock does not close after-first-unlock items") func lockLeavesAfterFirstUnlockItemsOpen() throws {
        let vault = try bench.startProtected()
        let sealed = try SealedRow(bench.row(.afterFirstUnlock, .userPresence), in: vault)
        let opening = try vault.opening(sealed)
        try vault.lock()
        #expect(bytes(try vault.finish(opening, try vault.gather(Workbench.passcode), password: nil)) == sealed.key)
    }

    /// The old passcode was correct when it was entered, and the state is intact, so nothing may be reported as damaged.
    @Test("A passcode change during a prompt is reported as such") func passcodeChangeDuringAPromptIsReported() throws {
        let vault = try bench.startProtected()
        let sealed = try SealedRow(bench.row(.whenUnlocked, .userPresence), in: vault)
        let opening = try vault.opening(sealed)
        let old = try vault.gather(Workbench.passcode)
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
        #expect(refusal { _ = try vault.finish(opening, old, password: nil) }?.reason == .keysChanged)
        #expect(try vault.read(sealed, passcode: Workbench.otherPasscode) == sealed.key)
    }

    @Test("Wrong passcodes for an item count like any others") func wrongPasscodesForAnItemCount() throws {
        let vault = try bench.startProtected()
        let sealed = try SealedRow(bench.row(.whenUnlocked, .userPresence), in: vault)
        for _ in 1...5 { #expect(refusal { _ = try vault.read(sealed, passcode: "wrong one") }?.reason == .authenticationFailed) }
        #expect(refusal { try vault.unlock(secret(Workbench.passcode)) }?.reason == .lockedOut)
        #expect(refusal { _ = try vault.read(sealed, passcode: Workbench.passcode) }?.reason == .lockedOut)
    }
}
