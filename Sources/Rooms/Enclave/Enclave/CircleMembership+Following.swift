// Follows the statements of other devices: verifies each, and applies it to this device.

import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

extension CircleMembership {
    /// Follows the next statement of a member. Throws if it is not the next one, is not signed by a member, or makes a change that its
    /// signer may not make.
    func following(_ bytes: [UInt8]) throws(Refusal) -> CircleMembership {
        guard let circle = body.circle else { throw Self.notInCircle }
        let (signed, statement) = try Self.decoded(bytes)
        guard statement.circle == circle else { throw Refusal(.badParameter, "The statement is of another circle") }
        guard statement.number - 1 == body.number, statement.previous == body.digest else { throw Self.forked }
        // A companion's signature is never accepted, and the recovery key's only in one case (`checkRecovery`).
        let isByRecovery = statement.signer == body.recoverySigner?.device
        guard let signer = isByRecovery ? body.recoverySigner : body.signers.first(where: { $0.device == statement.signer }),
            signed.isSigned(by: signer.verification)
        else { throw Refusal(.badParameter, "A statement about the circle is not signed by a device of it") }
        guard statement.epoch == body.epoch || statement.epoch == body.epoch + 1 else { throw Self.damaged }
        let next = try entering(statement, bytes)
        // The known keys must stay the same: a statement adds devices, or removes some and makes a new key.
        let known = secrets.circleKeys(includingLast: true)
        guard next.secrets.circleKeys(includingLast: true).part(0..<known.count).equals(known) else { throw Self.damaged }
        for signer in next.body.signers {
            if let earlier = body.signers.first(where: { $0.device == signer.device }), earlier != signer { throw Self.damaged }
        }
        try checkDevices(of: next)
        try checkRecovery(of: next, by: statement, isByRecovery: isByRecovery)
        var followed = next
        if isByRecovery, let device = next.body.signers.last?.device { followed.body.recovered.append(device) }
        followed.body.noteFormer(since: body)
        followed.body.recovered.removeAll { device in !next.body.signers.contains { $0.device == device } }
        if let pending = body.pending, next.body.device(pending.device) == nil, body.device(pending.device) != nil {
            // A device that was admitted and removed again needs a new approval.
            followed.body.pending = nil
        }
        // A device follows its own statement only if its state was rolled back. A token that was used since then could be open again, so
        // all are removed.
        if statement.signer == body.me.device { followed.body.tokens = [] }
        return followed
    }

    /// Compares the devices of a statement with the known ones. A companion has none to compare.
    private func checkDevices(of next: CircleMembership) throws(Refusal) {
        for device in next.body.members + next.body.companions.map(\.device) {
            switch body.device(device.device) {
            case nil:
                // A member that admitted a device with unusable keys would prevent all members from removing any device.
                guard CircleSecrets.areUsable(device) else { throw Self.damaged }
            case let known?:
                // A companion never becomes a member, since that requires the steps of joining, and a member never becomes a companion.
                guard known == device, body.members.contains(device) == next.body.members.contains(device) else { throw Self.damaged }
            }
        }
        let isOneRemoved = (body.members + body.companions.map(\.device)).contains { next.body.device($0.device) == nil }
        guard !isOneRemoved || next.body.epoch > body.epoch else { throw Self.damaged }
    }

    /// Compares the recovery key of a statement with the known one. If the recovery key signed the statement, checks that its change is
    /// permitted.
    private func checkRecovery(
        of next: CircleMembership, by statement: CircleStatement, isByRecovery: Bool
    ) throws(Refusal) {
        let isSame = body.isCompanion ? body.rosterRecovery == next.body.rosterRecovery : body.recovery == next.body.recovery
        if !isSame {
            // A recovery key that has ended must not open anything under the new circle key.
            guard body.recoverySigner == nil || next.body.epoch > body.epoch else { throw Self.damaged }
            if let made = next.body.recovery {
                guard CircleSecrets.areUsable(made), statement.makes(made) else { throw Self.damaged }
            }
        }
        guard isByRecovery else { return }
        // A statement by the recovery key may only admit one device and end the key.
        let (before, after) = (body.signers, next.body.signers)
        guard next.body.recoverySigner == nil, after.count == before.count + 1, after.starts(with: before),
            next.body.companions == body.companions, let signer = body.recoverySigner, let admitted = after.last,
            admitted.device != signer.device, admitted.verification != signer.verification
        else { throw Self.damaged }
    }

    /// Applies a statement whose signature is verified. A device stays a member or a companion.
    func entering(_ statement: CircleStatement, _ bytes: [UInt8]) throws(Refusal) -> CircleMembership {
        let shares = isRecovery ? statement.recovery.map { [$0.share] } ?? [] : statement.shares
        let share = shares.first { $0.device == body.me.device }
        let part = statement.companions.first { $0.share.device == body.me.device }
        let isCompanion = body.circle == nil ? share == nil : body.isCompanion
        do {
            var next = self
            switch (isCompanion, share, part) {
            case (false, let share?, nil): try next.enterAsMember(statement, share)
            case (true, nil, let part?): try next.enterAsCompanion(statement, part)
            case (_, nil, nil), (false, nil, _): throw Self.removed
            default: throw Self.damaged
            }
            next.body.circle = statement.circle
            next.body.number = statement.number
            next.body.digest = CircleCodes.digest(bytes)
            next.body.epoch = statement.epoch
            next.body.statement = nil
            return next
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Self.damaged
        }
    }

    private mutating func enterAsMember(_ statement: CircleStatement, _ share: CircleStatement.Share) throws {
        let key = try takeKeys(
            from: share, info: isRecovery ? Self.recoveryInfo(statement, body.me.device) : Self.info(statement, body.me.device),
            earlier: statement.earlier, of: statement, label: Self.earlierLabel)
        let list = try KeyWrap.unwrap(statement.members, under: key, label: Self.membersLabel, context: statement.context)
        let members = try CircleMembers(derBytes: list.withUnsafeBytes { Array($0) })
        (body.members, body.companions, body.recovery) = (members.list, members.companions, members.recovery)
        let (devices, companions) = (body.members.map(\.device), body.companions.map(\.device.device))
        let all = devices + companions + (body.recovery.map { [$0.device] } ?? [])
        guard devices == statement.shares.map(\.device), companions == statement.companions.map(\.share.device),
            body.recovery?.device == statement.recovery?.share.device, Set(all).count == all.count,
            all.count <= CircleRequest.membersMax, isRecovery ? body.recovery == body.me : body.members.contains(body.me)
        else { throw WrapError() }
    }

    private mutating func enterAsCompanion(_ statement: CircleStatement, _ part: CompanionPart) throws {
        let context = statement.context + body.me.device
        let info = Self.companionInfo(statement, body.me.device)
        let key = try takeKeys(
            from: part.share, info: info, earlier: part.earlier, of: statement, label: Self.companionEarlierLabel, context: context)
        let list = try KeyWrap.unwrap(part.roster, under: key, label: Self.rosterLabel, context: context)
        let read = try CircleRoster(derBytes: list.withUnsafeBytes { Array($0) })
        let roster = read.list
        let devices = roster.map(\.device)
        guard devices == statement.shares.map(\.device), Set(devices).count == devices.count,
            devices.contains(statement.signer) || body.rosterRecovery?.device == statement.signer,
            read.recovery?.device == statement.recovery?.share.device, read.recovery.map({ !devices.contains($0.device) }) ?? true
        else { throw WrapError() }
        body.roster = roster
        body.rosterRecovery = read.recovery
    }

    /// Takes the keys from a statement and returns the newest.
    private mutating func takeKeys(
        from share: CircleStatement.Share, info: [UInt8], earlier: [UInt8]?, of statement: CircleStatement, label: String,
        context: [UInt8]? = nil
    ) throws -> SecretBytes {
        let own = CircleSecrets(secrets.bytes.part(0..<2 * CircleSecrets.keyBytes))
        let key = try own.openShare(share, info: info)
        switch earlier {
        case nil:
            guard statement.epoch == 1 else { throw WrapError() }
            secrets = own.adding(key)
        case let earlier?:
            let keys = try KeyWrap.unwrap(earlier, under: key, label: label, context: context ?? statement.context)
            secrets = own.adding(CircleSecrets.joined(keys, key))
        }
        guard secrets.bytes.count == CircleSecrets.byteCount(epochs: statement.epoch) else { throw WrapError() }
        return key
    }

    static func decoded(_ bytes: [UInt8]) throws(Refusal) -> (SignedStatement, CircleStatement) {
        do {
            let signed = try SignedStatement(derBytes: bytes)
            return (signed, try CircleStatement(derBytes: signed.statement))
        } catch {
            if (error as? DERError)?.newerVersion != nil {
                throw Refusal(.unsupported, "The circle was changed by a later version of Vauban; update Vauban")
            }
            throw Self.damaged
        }
    }
}
