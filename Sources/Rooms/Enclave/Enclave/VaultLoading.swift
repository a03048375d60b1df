// From disk to a vault: every way in which a file can be wrong ends in a sentence and a refusal, not in a new keybag.

import VaubanDER
import VaubanRefusal
import VaubanSecretBytes

extension VaultState {
    static func load(user: UInt32, host: EnclaveHost) -> VaultState {
        var state = VaultState(user: user, since: host.clock.referenceMicroseconds)
        state.lastUse = host.clock.boot
        state.asleep = host.clock.asleep
        do {
            // Without the device secret nothing of this user can be judged, not even whether it is whole.
            _ = try host.backend.deviceKey(label: "vauban device check v1", context: [])
            guard let bag = try loadKeybag(user, host) else { return state }
            state.keybag = bag
            try state.loadAttempts(bag, user, host)
            let held = try bag.openKeys(.device, with: try bag.deviceKey(host.backend))
            state.ring = bag.passcode == nil ? KeyRing(unlocked: held) : KeyRing(beforeFirstUnlock: held)
        } catch let unreadable as Unreadable {
            state.unreadable = unreadable.sentence
        } catch let fault as StateError {
            state.unreadable = "the stored state cannot be read: \(fault)"
            state.isPassing = true
        } catch let fault as BackendError {
            state.unreadable = fault.description
        } catch let refusal as Refusal {
            state.unreadable = refusal.detail ?? "the keybag does not open"
        } catch {
            state.unreadable = "the keybag cannot be read: \(error)"
        }
        if let unreadable = state.unreadable {
            state.keybag = nil
            state.ring = nil
            state.warnings.append(unreadable)
        }
        return state
    }

    private struct Unreadable: Error { let sentence: String }

    private static func loadKeybag(_ user: UInt32, _ host: EnclaveHost) throws -> Keybag? {
        guard let bytes = try host.store.read(.keybag, of: user, max: EnclaveLimits.keybagBytesMax) else {
            let aside = try host.store.quarantined(of: user)
            guard aside.isEmpty else {
                // One name is enough; a sentence has to fit the wires.
                let names = aside.count == 1 ? aside[0] : "\(aside[0]) and \(aside.count - 1) more"
                throw Unreadable(sentence: "the keybag was put aside earlier (\(names)); put back a good copy as \"keybag\"")
            }
            return nil
        }
        do {
            let bag = try Keybag(derBytes: StateEnvelope.open(bytes, name: .keybag, user: user, backend: host.backend))
            guard bag.user == user, bag.device == host.backend.deviceIdentifier else { throw StateEnvelope.Fault.altered }
            return bag
        } catch StateEnvelope.Fault.otherDevice {
            // Not put aside: the file is whole, it is this machine that is another one.
            throw Unreadable(sentence: "the keybag belongs to another device; this machine is a copy, or its device secret was replaced")
        } catch StateEnvelope.Fault.newer(let version) {
            throw Unreadable(sentence: newer(version))
        } catch let fault as DERError where fault.newerVersion != nil {
            throw Unreadable(sentence: newer(fault.newerVersion ?? 0))
        } catch {
            let aside = try host.store.quarantine(.keybag, of: user)
            throw Unreadable(sentence: "the keybag cannot be read and was put aside as \(aside); put back a good copy as \"keybag\"")
        }
    }

    /// It stays where it is: a later Vauban reads it.
    private static func newer(_ version: Int64) -> String {
        "the stored state was written by a later Vauban (version \(version)); install that one again, nothing was changed"
    }

    /// A record of tries that is missing or damaged counts as the longest delay: no accident and no deletion gives a
    /// guess back. A restart starts the current delay again.
    private mutating func loadAttempts(_ bag: Keybag, _ user: UInt32, _ host: EnclaveHost) throws {
        // As many as bring the longest delay and not one more: nobody guessed, so it must not add up to an erasure.
        let worst = AttemptRecord(keybag: bag.identifier, failures: host.delays.freeTries + Int64(host.delays.seconds.count) - 1)
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
            if !isFound && bag.passcode != nil { warnings.append("the record of passcode tries is missing\(consequence)") }
        } catch let fault as StateError {
            throw fault
        } catch StateEnvelope.Fault.newer(let version) {
            throw Unreadable(sentence: Self.newer(version))
        } catch let fault as DERError where fault.newerVersion != nil {
            throw Unreadable(sentence: Self.newer(fault.newerVersion ?? 0))
        } catch {
            let aside = (try? host.store.quarantine(.attempts, of: user)) ?? "nothing"
            warnings.append("the record of passcode tries cannot be read and was put aside as \(aside)\(consequence)")
        }
        attempts = record
        let delay = host.delays.delay(afterFailures: record.failures)
        if delay > 0 { notBefore = host.clock.boot + UInt64(delay) * 1_000_000_000 }
    }
}
