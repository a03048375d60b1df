// The members of a circle. Statements are written and followed here, as functions of a device's own part of the circle (Specs/sync.md).

import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// A device's part of a circle, with its keys.
struct CircleMembership: Sendable {
    var body: CircleBody
    var secrets: CircleSecrets
    /// The content that is stored now, which a write replaces only if it is still the same; nil if nothing is stored yet.
    var stored: CircleContent?
    /// The epoch of the vault when this was opened.
    var vaultEpoch: Int64 = 0
    /// Whether the keys are those of the recovery key, which is no member and has its own part in each statement.
    var isRecovery = false

    // MARK: Writing

    /// Makes a statement of new members and companions and follows it. If someone is removed, it includes a new circle key.
    func makeStatement(
        members: [CircleDevice], companions: [CompanionRecord], recovery: RecoveryStep = .keep, rolls: Bool
    ) throws(Refusal) -> (statement: [UInt8], CircleMembership) {
        guard let circle = body.circle else { throw Self.notInCircle }
        guard !body.isCompanion else { throw Self.companionChangesNothing }
        var next = self
        switch recovery {
        case .keep: break
        case .end: next.body.recovery = nil
        case .make(_, let device): next.body.recovery = device
        }
        try next.checkLimits(members: members.count, companions: companions.count, rolls: rolls)
        if rolls {
            next.secrets = secrets.adding(try Keybag.randomKey())
            next.body.epoch += 1
        }
        next.body.number += 1
        next.body.members = members
        next.body.companions = companions
        next.body.pending = nil
        next.body.noteFormer(since: body)
        next.body.recovered.removeAll { device in !members.contains { $0.device == device } }
        do {
            let blank = CircleStatement(
                circle: circle, number: next.body.number, previous: body.digest, epoch: next.body.epoch, signer: body.me.device)
            var statement = try next.statement(completing: blank)
            if case .make(let secrets, _) = recovery { statement = try statement.proven(by: secrets) }
            let bytes = try statement.encoded()
            let signed = try SignedStatement(statement: bytes, signature: try secrets.sign(.statement, bytes)).encoded()
            next.body.digest = CircleCodes.digest(signed)
            next.body.statement = signed
            return (signed, next)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            // A member's key was checked when it joined.
            throw Refusal(.badParameter, "The circle's keys cannot be encrypted to a device")
        }
    }

    /// Throws if a statement would exceed a limit. Must be called on this state of the circle, with its future recovery key.
    private func checkLimits(members: Int, companions: Int, rolls: Bool) throws(Refusal) {
        guard body.number < CircleRequest.numberMax else {
            throw Refusal(
                .unsupported, "This circle was changed too often; start a new one: vauban sync leave, then vauban sync new FOLDER")
        }
        // A device that joins by the recovery key takes the place that the key occupied.
        guard members + companions + (body.recovery == nil ? 0 : 1) <= CircleRequest.membersMax else {
            throw Refusal(
                .unsupported,
                "A circle has at most 10 devices, and a recovery key counts as one; remove a device first: vauban sync remove")
        }
        guard companions <= CircleRequest.companionsMax else {
            throw Refusal(.unsupported, "A circle has at most 4 companions; remove one first: vauban sync remove")
        }
        guard !rolls || body.epoch < CircleRequest.epochsMax else {
            throw Refusal(
                .unsupported,
                "Too many devices were removed from this circle; start a new one: vauban sync leave, then vauban sync new FOLDER")
        }
    }

    /// Returns a statement of these members and companions, with the circle's keys encrypted to each of them. `blank` supplies the rest.
    private func statement(completing blank: CircleStatement) throws -> CircleStatement {
        let key = secrets.key(of: secrets.epochs)
        let earlier =
            secrets.epochs == 1
            ? nil
            : try KeyWrap.wrap(
                secrets.circleKeys(includingLast: false), under: key, label: Self.earlierLabel, context: blank.context)
        return CircleStatement(
            circle: blank.circle, number: blank.number, previous: blank.previous, epoch: blank.epoch, signer: blank.signer,
            shares: try body.members.map { try CircleSecrets.share(key, with: $0, info: Self.info(blank, $0.device)) },
            members: try KeyWrap.wrap(
                SecretBytes(copying: try CircleMembers(body.members, body.companions, recovery: body.recovery).encoded()), under: key,
                label: Self.membersLabel,
                context: blank.context),
            earlier: earlier, companions: try body.companions.map { try part(for: $0.device, in: blank) },
            recovery: try body.recovery.map { device in
                RecoveryPart(
                    share: try CircleSecrets.share(key, with: device, info: Self.recoveryInfo(blank, device.device)), proof: nil)
            })
    }

    /// Returns a companion's part of a statement of these members.
    private func part(for companion: CircleDevice, in blank: CircleStatement) throws -> CompanionPart {
        let key = secrets.companionKey(of: secrets.epochs, circle: blank.circle, device: companion.device)
        let context = blank.context + companion.device
        let roster = SecretBytes(copying: try CircleRoster(body.members.map(\.outside), recovery: body.recovery?.outside).encoded())
        let earlier =
            secrets.epochs == 1
            ? nil
            : try KeyWrap.wrap(
                secrets.earlierCompanionKeys(circle: blank.circle, device: companion.device), under: key,
                label: Self.companionEarlierLabel, context: context)
        return CompanionPart(
            share: try CircleSecrets.share(key, with: companion, info: Self.companionInfo(blank, companion.device)),
            roster: try KeyWrap.wrap(roster, under: key, label: Self.rosterLabel, context: context), earlier: earlier)
    }

    // MARK: Parts

    static func info(_ statement: CircleStatement, _ device: [UInt8]) -> [UInt8] {
        Array("vauban sync share v1".utf8) + [0] + statement.context + device
    }

    /// The label differs from that of a member's info, so that neither can open the other's share.
    static func companionInfo(_ statement: CircleStatement, _ device: [UInt8]) -> [UInt8] {
        Array("vauban sync companion share v1".utf8) + [0] + statement.context + device
    }

    /// The label differs as well, since the recovery key is no member.
    static func recoveryInfo(_ statement: CircleStatement, _ device: [UInt8]) -> [UInt8] {
        Array("vauban sync recovery share v1".utf8) + [0] + statement.context + device
    }

    static let membersLabel = "vauban sync members v1"
    static let earlierLabel = "vauban sync earlier keys v1"
    static let rosterLabel = "vauban sync roster v1"
    static let companionEarlierLabel = "vauban sync earlier companion keys v1"

    static var notInCircle: Refusal { Refusal(.notAllowedHere, "This device is in no circle; run: vauban sync new, or vauban sync join") }
    static var removed: Refusal {
        Refusal(.notAllowedHere, "This device was removed from the circle; run vauban sync leave, then join again")
    }
    static var companionChangesNothing: Refusal {
        Refusal(.notAllowedHere, "This device is a companion: it receives items and changes nothing; run this on a member of the circle")
    }
    static var damaged: Refusal { Refusal(.badParameter, "A statement about the circle was altered, or is incomplete") }
    static var forked: Refusal {
        Refusal(
            .badParameter,
            "The circle was changed in two places at once, or its folder was put back to an earlier state; run vauban sync leave here, "
                + "then join again")
    }
}
