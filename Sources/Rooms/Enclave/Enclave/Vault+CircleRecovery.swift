// Joining of a circle with its recovery key, when no other device is at hand (Specs/sync.md, "Joining by the recovery key"). The holder of
// the key follows the statements as a member does, from the one that made the key. Then it admits one device, which ends the key.

import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

extension Vault {
    // MARK: The member

    /// Makes a recovery key. Nothing of it is stored until it is confirmed, so that a key that the user has not seen replaces none.
    func makeRecoveryKey(as member: CircleMembership) throws(Refusal) -> CircleOutcome {
        let key = CircleRecoveryKey(try Keybag.randomKey(CircleRequest.recoveryKeyBytes))
        // Throws if there can be no statement, since a key that could not be stored should not be shown.
        _ = try Self.statement(making: try Self.recoveryKeys(of: key, for: member), as: member)
        return CircleOutcome(CircleReply(member.body.view), recoveryKey: key)
    }

    /// Stores a recovery key that the user has seen, which replaces an earlier one. Only its public half is stored. If it is stored
    /// already, returns the statement again.
    func confirm(_ key: CircleRecoveryKey?, as member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard let key else {
            throw Refusal(.unavailable, "No recovery key was made, or the keychain was locked meanwhile; run the command again")
        }
        let made = try Self.recoveryKeys(of: key, for: member)
        guard member.body.recovery != made.device else {
            return CircleOutcome(CircleReply(member.body.view, document: member.body.statement), recoveryKey: key)
        }
        let (statement, next) = try Self.statement(making: made, as: member)
        return CircleOutcome(try store(next, document: statement).reply, recoveryKey: key)
    }

    /// The keys derived from a recovery key, and their public halves.
    private struct RecoveryKeys {
        let secrets: CircleSecrets
        let device: CircleDevice
    }

    private static func recoveryKeys(of key: CircleRecoveryKey, for member: CircleMembership) throws(Refusal) -> RecoveryKeys {
        guard let circle = member.body.circle else { throw CircleMembership.notInCircle }
        let (secrets, device) = try computed { try CircleSecrets.recovery(key.bytes, circle: circle) }
        return RecoveryKeys(secrets: secrets, device: device)
    }

    private static func statement(
        making made: RecoveryKeys, as member: CircleMembership
    ) throws(Refusal) -> (statement: [UInt8], CircleMembership) {
        try member.makeStatement(
            members: member.body.members, companions: member.body.companions, recovery: .make(made.secrets, made.device),
            rolls: member.body.recovery != nil)
    }

    func endRecoveryKey(as member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard member.body.recovery != nil else { throw Refusal(.badParameter, "The circle has no recovery key") }
        let (statement, next) = try member.makeStatement(
            members: member.body.members, companions: member.body.companions, recovery: .end, rolls: true)
        return try store(next, document: statement)
    }

    // MARK: The new device

    /// Finds the circle of a recovery key in the statement that made the key. Throws `itemNotFound` for any other statement.
    func find(_ bytes: [UInt8], byRecoveryKey key: borrowing SecretBytes?) throws(Refusal) -> CircleOutcome {
        try checkMayKeepCircle()
        guard try membershipIfAny() == nil else { throw Self.alreadyInCircle }
        let (signed, statement) = try CircleMembership.decoded(bytes)
        let found: (secrets: CircleSecrets, device: CircleDevice)
        switch key {
        case .none: throw Refusal(.badParameter, "The recovery key is missing")
        case .some(let key): found = try Self.computed { try CircleSecrets.recovery(key, circle: statement.circle) }
        }
        guard statement.makes(found.device) else { throw Refusal(.itemNotFound, "The statement did not make this recovery key") }
        var holder = CircleMembership(body: CircleBody(me: found.device), secrets: found.secrets, stored: nil)
        holder.isRecovery = true
        let entered = try holder.entering(statement, bytes)
        guard let signer = entered.body.members.first(where: { $0.device == statement.signer }),
            CircleSignature.statement.isValid(signed.signature, of: signed.statement, by: signer.outside)
        else { throw CircleMembership.damaged }
        return CircleOutcome(CircleReply(entered.body.view), recovering: CircleRecovery(entered))
    }

    /// Follows the next statement of the circle that was found.
    func follow(_ bytes: [UInt8], byRecoveryKey recovering: CircleRecovery?) throws(Refusal) -> CircleOutcome {
        let holder = try Self.found(recovering)
        let next: CircleMembership
        do throws(Refusal) { next = try holder.following(bytes) } catch {
            guard error == CircleMembership.removed else { throw error }
            throw Refusal(
                .notAllowedHere, "This recovery key was used already, or another was made in its place; use the newest, or another device")
        }
        return CircleOutcome(CircleReply(next.body.view), recovering: CircleRecovery(next))
    }

    /// Admits this device to the circle that was found. This ends the recovery key and makes a new circle key, so that whoever finds the
    /// written-down key later cannot read anything new.
    func enter(byRecoveryKey name: String, _ recovering: CircleRecovery?) throws(Refusal) -> CircleOutcome {
        let holder = try Self.found(recovering)
        var member = try newMembership(name)
        let (statement, next) = try holder.makeStatement(
            members: holder.body.members + [member.body.me], companions: holder.body.companions, recovery: .end, rolls: true)
        let known = next.secrets.circleKeys(includingLast: true)
        var body = next.body
        body.me = member.body.me
        body.recovered = [member.body.me.device]
        member.body = body
        member.secrets = member.secrets.adding(known)
        return try store(member, document: statement)
    }

    private static func found(_ recovering: CircleRecovery?) throws(Refusal) -> CircleMembership {
        guard let recovering else { throw Refusal(.unavailable, "No circle was found by a recovery key; run the command again") }
        return recovering.member
    }
}
