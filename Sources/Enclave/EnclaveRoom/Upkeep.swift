// The requests that change the passcode's place, when a keychain locks, and which fingers count.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
import VaubanLinuxHost
import VaubanSecretBytes

extension RequestLine {
    func carryOutUpkeep(_ request: EnclaveRequest, for caller: Peer, in vault: Vault) throws(Refusal) {
        switch request {
        case .removePasscode(let challenge, let sealed):
            let given = try unseal(challenge, sealed, allowing: .removePasscode, caller)
            try guessing(.remove, caller, vault) { () throws(Refusal) in try vault.removePasscode(given.passcode(0), for: requester(for: caller)) }

        case .erase(let challenge, let sealed):
            let given = try unseal(challenge, sealed, allowing: .erase, caller)
            guard sealed != nil else { return try vault.erase(nil) }
            try guessing(.erase, caller, vault) { () throws(Refusal) in
                let passcode: SecretBytes? = try given.passcode(0)
                try vault.erase(passcode, for: requester(for: caller))
            }

        case .recover(let challenge, let recoveryKey, let new, let newRecoveryKey):
            let ceremony = CeremonyBinding.recover(new: new, newRecoveryKey: newRecoveryKey)
            let given = try unseal(challenge, recoveryKey, allowing: ceremony, caller)
            let typed = try given.recoveryKey(0)
            try given.withRecoveryKey(2) { (next) throws(Refusal) in
                try vault.recover(with: typed, to: given.passcode(1), newRecoveryKey: next, for: requester(for: caller))
            }

        case .setRecoveryKey(let challenge, let sealed, let recoveryKey):
            let given = try unseal(challenge, sealed, allowing: .setRecoveryKey(recoveryKey), caller)
            try guessing(.recoveryKey, caller, vault) { () throws(Refusal) in
                try given.withRecoveryKey(1) { (key) throws(Refusal) in
                    try vault.setRecoveryKey(key, passcode: given.passcode(0), for: requester(for: caller))
                }
            }

        case .configure(let challenge, let sealed, let settings):
            let given = try unseal(challenge, sealed, allowing: .configure(settings), caller)
            try guessing(.configure, caller, vault) { () throws(Refusal) in
                try vault.configure(settings, passcode: given.passcode(0), for: requester(for: caller))
            }
            _ = vault.settle()
            room.reschedule()

        case .enrol(let challenge, let sealed, let unlocks):
            try enrol(try passcodeKey(challenge, sealed, unlocks, caller, vault), unlocks: unlocks, for: caller, in: vault)

        case .forgetFingers(let challenge, let sealed):
            let given = try unseal(challenge, sealed, allowing: .forgetFingers, caller)
            try guessing(.enrol, caller, vault) { () throws(Refusal) in _ = try vault.authenticate(given.passcode(0), for: requester(for: caller)) }
            try vault.endEnrolment()
            _ = try verdict(for: caller) { nonce, pending in room.reader.forgetFingers(caller.uid, nonce: nonce, pending) }

        case .unlockByFinger: try unlockByFinger(for: caller, in: vault)

        default: throw Refusal(.internalFault)
        }
    }

    // MARK: Fingers

    /// The names of the person's fingers, after the passcode.
    func listFingers(
        _ challenge: PasscodeChallenge, _ sealed: SealedPasscode, for caller: Peer, in vault: Vault
    ) throws(Refusal) -> [String] {
        let given = try unseal(challenge, sealed, allowing: .listFingers, caller)
        try guessing(.enrol, caller, vault) { () throws(Refusal) in _ = try vault.authenticate(given.passcode(0), for: requester(for: caller)) }
        switch try ceremony(for: caller, { nonce, pending in room.reader.listFingers(caller.uid, nonce: nonce, pending) }) {
        case .fingers(let names): return names
        case .verdict: throw Refusal(.biometryNotAvailable, "the reader cannot name them")
        }
    }

    /// What a right passcode gives, without the passcode, for what takes the person longer than a word.
    private func passcodeKey(
        _ challenge: PasscodeChallenge, _ sealed: SealedPasscode, _ unlocks: Bool, _ caller: Peer, _ vault: Vault
    ) throws(Refusal) -> GatheredEvidence {
        let given = try unseal(challenge, sealed, allowing: .enrol(unlocks: unlocks), caller)
        let kept = GatheredEvidence()
        try guessing(.enrol, caller, vault) { () throws(Refusal) in kept.passcodeKey = try vault.authenticate(given.passcode(0), for: requester(for: caller)) }
        return kept
    }

    /// The passcode's key is kept for as long as the person is at the reader and no lock comes.
    private func enrol(_ kept: GatheredEvidence, unlocks: Bool, for caller: Peer, in vault: Vault) throws(Refusal) {
        let (verdict, _) = try verdict(for: caller, endsWithLock: true) { nonce, pending in room.reader.enrol(caller.uid, nonce: nonce, pending) }
        guard verdict.outcome == .enrolled else { throw Refusal(.cancelled, "no finger was learnt") }
        switch kept.passcodeKey {
        case .some(let key): try vault.enrol(fingers: verdict.fingers, unlocks: unlocks, passcodeKey: key)
        case .none: throw Refusal(.internalFault)
        }
    }

    private func unlockByFinger(for caller: Peer, in vault: Vault) throws(Refusal) {
        if vault.status.lock == .unlocked { return }
        guard vault.canUnlockByFinger else { throw Refusal(vault.fingerRefusal ?? .biometryLockedOut, "the passcode unlocks") }
        for _ in 1...PromptQuestion.attemptsMax {
            let (verdict, held) = try verdict(for: caller) { nonce, pending in room.reader.askToUnlock(caller.uid, nonce: nonce, pending) }
            switch verdict.outcome {
            case .matched:
                guard let held else { throw Refusal(.biometryLockedOut, "the reader holds nothing for you; the passcode unlocks") }
                return try vault.unlock(by: try vault.fingerMatched(fingers: verdict.fingers), held.secret)
            case .missed:
                vault.fingerMissed()
                guard vault.canUnlockByFinger else { throw Refusal(.biometryLockedOut) }
            case .enrolled, .notEnrolled, .changed: throw Refusal(.authenticationFailed)
            }
        }
        throw Refusal(.authenticationFailed, "no finger matched")
    }

    private enum CeremonyEnd {
        case verdict(ReaderVerdict, HeldSecret?)
        case fingers([String])
    }

    private func verdict(
        for caller: Peer, endsWithLock: Bool = false, _ begin: ([UInt8], PendingPrompt) -> Bool
    ) throws(Refusal) -> (ReaderVerdict, HeldSecret?) {
        guard case .verdict(let verdict, let held) = try ceremony(for: caller, endsWithLock: endsWithLock, begin) else {
            throw Refusal(.biometryNotAvailable, "the reader answered something else")
        }
        return (verdict, held)
    }

    /// Something at the reader that no prompt shows: the caller's own surface says what to do, and is told how it goes.
    private func ceremony(
        for caller: Peer, endsWithLock: Bool = false, _ begin: ([UInt8], PendingPrompt) -> Bool
    ) throws(Refusal) -> CeremonyEnd {
        let nonce: [UInt8]
        do throws(SystemFault) { nonce = try Entropy.bytes(32) } catch { throw Refusal(.internalFault, "the reader cannot be asked") }
        let pending = try room.attention.begin(for: caller.uid)
        defer { room.attention.forget(pending) }
        guard begin(nonce, pending) else { throw Refusal(.biometryNotAvailable) }
        defer { room.reader.cancel(nonce) }
        try tell("the fingerprint reader")
        let deadline = MachineClock.monotonic + DoorLimits.personTime
        while true {
            switch pending.next() {
            case .verdict(let verdict, let held) where verdict.nonce == nonce && verdict.person == caller.uid: return .verdict(verdict, held)
            case .verdict(let verdict, _) where verdict.nonce == nonce: throw Refusal(.authenticationFailed, "the reader named another person")
            case .fingers(let asked, let names) where asked == nonce: return .fingers(names)
            case .hint(let asked, let hint, let done, let total) where asked == nonce:
                try tell("the fingerprint reader: \(hint.sentence(done: done, total: total))")
                continue
            case .readerGone: throw Refusal(.biometryNotAvailable, "the reader is gone")
            case .closed where endsWithLock: throw Refusal(.cancelled, "the keychain was locked or changed meanwhile")
            case .some: continue
            case .none: break
            }
            switch pending.wakeup.wait(until: deadline, connection: channel.socket, process: caller.process) {
            case .signalled: continue
            case .hungUp, .processEnded: throw Refusal(.cancelled, "the caller is gone")
            case .deadline: throw Refusal(.personTimeOver)
            }
        }
    }

    private func tell(_ place: String) throws(Refusal) {
        do { try report(place) } catch {
            throw Refusal(.cancelled, "the caller is gone")
        }
    }
}
