// Loads a vault from disk. Every defect of a file leads to a message and a refusal, never to a new keybag.

import VaubanDER
import VaubanRefusal
import VaubanSecretBytes

extension VaultState {
    static func load(user: UInt32, host: EnclaveHost) -> VaultState {
        var state = VaultState(user: user, since: host.clock.referenceMicroseconds)
        state.lastUse = host.clock.boot
        state.asleep = host.clock.asleep
        do {
            // Without the device secret no file of this user can be verified.
            _ = try host.backend.deviceKey(label: "vauban device check v1", context: [])
            guard let bag = try loadKeybag(user, host) else { return state }
            try state.loadAttempts(of: bag, user: user, host: host)
            let held = try bag.openKeys(.device, with: try bag.deviceKey(host.backend))
            state.contents = .loaded(bag, bag.passcode == nil ? KeyRing(unlocked: held) : KeyRing(beforeFirstUnlock: held))
        } catch let error as StateError {
            state.contents = .unreadable("the stored state cannot be read: \(error)", retries: true)
        } catch let error as BackendError {
            state.contents = .unreadable(error.description, retries: false)
        } catch let refusal as Refusal {
            state.contents = .unreadable(refusal.detail ?? "the keybag does not open", retries: false)
        } catch {
            state.contents = .unreadable("the keybag cannot be read: \(error)", retries: false)
        }
        if case .unreadable(let message, _) = state.contents { state.warnings.append(message) }
        return state
    }

    private static func loadKeybag(_ user: UInt32, _ host: EnclaveHost) throws -> Keybag? {
        guard let bytes = try host.store.read(.keybag, of: user, max: EnclaveLimits.keybagBytesMax) else {
            let aside = try host.store.quarantined(.keybag, of: user)
            guard aside.isEmpty else {
                // One name suffices, since the message must fit into a reply.
                let names = aside.count == 1 ? aside[0] : "\(aside[0]) and \(aside.count - 1) more"
                throw unusable("the keybag was set aside earlier (\(names)); put back a good copy as \"keybag\"")
            }
            return nil
        }
        do {
            let bag = try Keybag(derBytes: StateEnvelope.open(bytes, name: .keybag, user: user, backend: host.backend))
            guard bag.user == user, bag.device == host.backend.deviceIdentifier else { throw StateEnvelopeError.altered }
            return bag
        } catch let error as BackendError {
            // A failure of the machine does not mean that the file is defective.
            throw error
        } catch StateEnvelopeError.otherDevice {
            // Not set aside, since the file is intact and this is another machine.
            throw unusable("the keybag belongs to another device; this machine is a copy, or its device secret was replaced")
        } catch let error as DERError where error.newerVersion != nil {
            throw newer(error.newerVersion ?? 0)
        } catch {
            let aside = try host.store.quarantine(.keybag, of: user)
            throw unusable("the keybag cannot be read and was set aside as \(aside); put back a good copy as \"keybag\"")
        }
    }

    /// Returns the refusal for a file of a later version, which stays in place.
    private static func newer(_ version: Int64) -> Refusal {
        let what = "the stored state was written by a later version of Vauban (version \(version))"
        return unusable("\(what); install that version again, nothing was changed")
    }

    private static func unusable(_ sentence: String) -> Refusal { Refusal(.stateUnreadable, sentence) }

    /// Loads the attempts. A missing or damaged record counts as the longest delay, so that neither an accident nor a deletion undoes an
    /// attempt. A restart starts the current delay again.
    private mutating func loadAttempts(of bag: Keybag, user: UInt32, host: EnclaveHost) throws {
        // Exactly as many as cause the longest delay. No attempt failed, so the count must not permit an erasure.
        let worst = AttemptRecord(keybag: bag.identifier, failures: host.delays.freeAttempts + Int64(host.delays.seconds.count) - 1)
        let none = AttemptRecord(keybag: bag.identifier)
        var record = bag.passcode == nil ? none : worst
        let consequence = bag.passcode == nil ? "" : "; the longest delay applies"
        do {
            var isFound = false
            if let bytes = try host.store.read(.attempts, of: user, max: EnclaveLimits.attemptRecordBytesMax) {
                let read = try AttemptRecord(derBytes: StateEnvelope.open(bytes, name: .attempts, user: user, backend: host.backend))
                isFound = read.keybag == bag.identifier
                if isFound { record = read }
            }
            if !isFound && bag.passcode != nil { warnings.append("the record of failed passcodes is missing\(consequence)") }
        } catch let error as StateError {
            throw error
        } catch let error as BackendError {
            throw error
        } catch let error as DERError where error.newerVersion != nil {
            throw Self.newer(error.newerVersion ?? 0)
        } catch {
            let aside = (try? host.store.quarantine(.attempts, of: user)) ?? "nothing"
            warnings.append("the record of failed passcodes cannot be read and was set aside as \(aside)\(consequence)")
        }
        attempts = record
        let delay = host.delays.delay(afterFailures: record.failures)
        if delay > 0 { notBefore = host.clock.boot + UInt64(delay) * 1_000_000_000 }
    }
}
