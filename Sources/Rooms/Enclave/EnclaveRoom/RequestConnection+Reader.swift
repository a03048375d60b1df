// Requests that involve the fingerprint reader, other than answering prompts.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanRefusal
internal import VaubanRoomHardening
import VaubanSecretBytes
import VaubanUserModel

extension RequestConnection {
    /// Enrolls fingers. Keeps the passcode key while the user enrolls at the reader, until a lock.
    func enroll(_ given: UnsealedSecrets, unlocks: Bool, for caller: Peer, in vault: Vault) throws(Refusal) {
        let epoch = vault.epoch
        let key = try authenticate(given, for: caller, in: vault)
        try enroll(with: key, unlocks: unlocks, since: epoch, for: caller, in: vault)
    }

    /// Enrolls fingers, unless the keychain was locked since `epoch`, in which the enrollment was authorized.
    func enroll(
        with key: borrowing SecretBytes, unlocks: Bool, since epoch: Int64, for caller: Peer, in vault: Vault
    ) throws(Refusal) {
        let (verdict, _) = try verdict(for: caller, since: epoch) { nonce, pending in
            room.reader.enroll(caller.uid, nonce: nonce, pending)
        }
        guard verdict.outcome == .enrolled else { throw Refusal(.cancelled, "no finger was enrolled") }
        try vault.enroll(fingers: verdict.fingers, unlocks: unlocks, passcodeKey: key, since: epoch)
    }

    func forgetFingers(_ given: UnsealedSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        let epoch = vault.epoch
        let key = try authenticate(given, for: caller, in: vault)
        try forgetFingers(with: key, since: epoch, for: caller, in: vault)
    }

    /// Ends the enrollment, then has the reader delete the fingers. Throws if the reader fails, although the enrollment has ended. The key
    /// is erased before the reader is waited for, since a lock does not end that.
    func forgetFingers(with key: consuming SecretBytes, since epoch: Int64, for caller: Peer, in vault: Vault) throws(Refusal) {
        try Self.endEnrollment(with: key, since: epoch, in: vault)
        let outcome: ReaderVerdict.Outcome
        do throws(Refusal) {
            let (answer, _) = try verdict(for: caller) { nonce, pending in
                room.reader.forgetFingers(caller.uid, nonce: nonce, pending)
            }
            outcome = answer.outcome
        } catch {
            throw Self.fingersRemain(error.reason)
        }
        guard outcome == .enrolled else { throw Self.fingersRemain(.biometryNotAvailable) }
    }

    private static func endEnrollment(with key: consuming SecretBytes, since epoch: Int64, in vault: Vault) throws(Refusal) {
        try vault.endEnrollment(passcodeKey: key, since: epoch)
    }

    private static func fingersRemain(_ reason: Refusal.Reason) -> Refusal {
        Refusal(
            reason,
            """
            \(reason.detailIsComplete ? "Your" : "your") fingers approve nothing here any more, but the reader still has them; \
            fprintd-delete removes them, in system mode as root
            """)
    }

    /// Returns the names of the user's enrolled fingers.
    func listFingers(_ given: UnsealedSecrets, for caller: Peer, in vault: Vault) throws(Refusal) -> [String] {
        _ = try authenticate(given, for: caller, in: vault)
        switch try ceremony(for: caller, { nonce, pending in room.reader.listFingers(caller.uid, nonce: nonce, pending) }) {
        case .fingers(let names): return names
        case .verdict: throw Refusal(.biometryNotAvailable, "The reader cannot name the fingers")
        }
    }

    /// Verifies the passcode and returns its key, so that the passcode itself need not stay in memory during the enrollment.
    private func authenticate(_ given: UnsealedSecrets, for caller: Peer, in vault: Vault) throws(Refusal) -> SecretBytes {
        defer { given.erase() }
        return try withFailedAttemptRecorded(for: .enroll, by: caller, in: vault) { () throws(Refusal) in
            try vault.authenticate(given.passcode(0), for: requester(for: caller))
        }
    }

    func unlockByFinger(for caller: Peer, in vault: Vault) throws(Refusal) {
        if vault.status.lock == .unlocked { return }
        guard vault.canUnlockByFinger else { throw Refusal(vault.fingerRefusal ?? .biometryLockedOut, "enter the passcode to unlock") }
        for _ in 1...PromptRequest.attemptsMax {
            let (verdict, held) = try verdict(for: caller) { nonce, pending in room.reader.askToUnlock(caller.uid, nonce: nonce, pending) }
            switch verdict.outcome {
            case .matched:
                guard let held else { throw Refusal(.biometryLockedOut, "the reader holds no key for you; enter the passcode to unlock") }
                return try vault.unlock(by: try vault.acceptFingerMatch(fingers: verdict.fingers), held.secret)
            case .missed:
                vault.recordFingerMiss()
                guard vault.canUnlockByFinger else { throw Refusal(.biometryLockedOut) }
            case .enrolled, .notEnrolled, .changed: throw Refusal(.authenticationFailed)
            }
        }
        throw Refusal(.authenticationFailed, "no finger matched")
    }

    private enum CeremonyResult {
        case verdict(ReaderVerdict, HeldSecret?)
        case fingers([String])
    }

    private func verdict(
        for caller: Peer, since epoch: Int64? = nil, _ begin: ([UInt8], PendingPrompt) -> Bool
    ) throws(Refusal) -> (ReaderVerdict, HeldSecret?) {
        guard case .verdict(let verdict, let held) = try ceremony(for: caller, since: epoch, begin) else {
            throw Refusal(.biometryNotAvailable, "The reader gave an unexpected answer")
        }
        return (verdict, held)
    }

    /// Runs a request at the reader without a prompt: the caller's own interface instructs the user and receives the hints. A lock since
    /// `epoch` ends it; nil lets it continue.
    private func ceremony(
        for caller: Peer, since epoch: Int64? = nil, _ begin: ([UInt8], PendingPrompt) -> Bool
    ) throws(Refusal) -> CeremonyResult {
        let nonce: [UInt8]
        do throws(SystemError) { nonce = try Entropy.bytes(32) } catch { throw Refusal(.internalError, "the reader cannot be asked") }
        let pending = try room.prompts.begin(for: caller)
        defer { room.prompts.forget(pending) }
        // A lock from now on is reported; an earlier one is detected here.
        if let epoch { try vault().checkUnchanged(since: epoch) }
        guard begin(nonce, pending) else { throw Refusal(.biometryNotAvailable) }
        defer { room.reader.cancel(nonce) }
        try reportPlace("the fingerprint reader")
        let deadline = MachineClock.monotonic + ConnectionLimits.userTimeout
        while true {
            switch pending.next() {
            case .verdict(let verdict, let held) where verdict.nonce == nonce && verdict.user == caller.uid:
                return .verdict(verdict, held)
            case .verdict(let verdict, _) where verdict.nonce == nonce:
                throw Refusal(.authenticationFailed, "the reader named another user")
            case .fingers(let asked, let names) where asked == nonce: return .fingers(names)
            case .hint(let asked, let hint, let done, let total) where asked == nonce:
                try reportPlace("the fingerprint reader: \(hint.sentence(done: done, total: total))")
                continue
            case .readerGone: throw Refusal(.biometryNotAvailable, "The reader was disconnected")
            case .closed where epoch != nil: throw Refusal(.locked, "the keychain was locked or changed meanwhile")
            case .some: continue
            case .none: break
            }
            ScratchMemory.scrubStack()
            switch pending.wakeup.wait(until: deadline, connection: channel.socket, process: caller.process) {
            case .signaled: continue
            case .hungUp, .processEnded: throw Refusal(.cancelled, "the caller is gone")
            case .deadline: throw Refusal(.userTimedOut)
            }
        }
    }

    private func reportPlace(_ place: String) throws(Refusal) {
        do { try report(place) } catch {
            throw Refusal(.cancelled, "the caller is gone")
        }
    }
}
