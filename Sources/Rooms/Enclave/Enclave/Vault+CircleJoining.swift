// Joining of a circle by a device (Specs/sync.md, "Joining"). The device commits to its keys, a member answers, the device reveals the
// keys, and the user types a code in each direction. Neither side has the other's nonce when it fixes its own, so an attacker cannot search
// for keys that give equal codes.

import VaubanDER
package import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// The device at the other end, in the form in which the prompt shows it.
package struct CircleCounterpart: Hashable, Sendable {
    package let name: String
    /// The code that the device shows.
    package let code: String
}

extension Vault {
    /// Returns the device of a join request; nil if it is already admitted. Throws if the code is not the one that the device shows.
    package func newcomerToAdmit(_ reveal: [UInt8], code: String) throws(Refusal) -> CircleCounterpart? {
        let newcomer = try newcomer(reveal, code: code)
        return newcomer.isAdmitted ? nil : CircleCounterpart(name: newcomer.device.name, code: newcomer.codes.newcomer)
    }

    /// Returns the member that admits this device, and whether the device becomes a companion. Throws if the code is not the one that the
    /// member shows.
    package func sponsor(
        _ statement: [UInt8], code: String
    ) throws(Refusal) -> (member: CircleCounterpart, isOfCompanion: Bool) {
        let entrance = try entrance(statement, code: code)
        return (entrance.sponsor, entrance.membership.body.isCompanion)
    }

    /// Commits to the keys of a device that requests to join.
    func apply(_ name: String) throws(Refusal) -> CircleOutcome {
        let waiting = try membershipIfAny()
        guard waiting?.body.circle == nil, waiting?.body.redemption == nil else { throw Self.alreadyInCircle }
        let member = if let waiting { waiting } else { try newMembership(name) }
        let device = try Self.encoded(member.body.me)
        let commitment = CircleCommitment(
            device: member.body.me.device, digest: CircleCodes.commitment(device, nonce: member.secrets.nonce()))
        let document = try Self.encoded(commitment)
        guard waiting == nil else { return CircleOutcome(CircleReply(member.body.view, document: document)) }
        return try store(member, document: document)
    }

    /// Answers one commitment. An earlier answer to another device is no longer valid.
    func answer(_ commitment: [UInt8], as member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard let circle = member.body.circle else { throw CircleMembership.notInCircle }
        guard let asked = try? CircleCommitment(derBytes: commitment),
            member.body.device(asked.device) == nil
        else { throw Self.damagedRequest }
        if let pending = member.body.pending, pending.device == asked.device,
            (try? CircleAnswer(derBytes: pending.answer))?.digest == asked.digest
        {
            return CircleOutcome(CircleReply(member.body.view, document: pending.answer))
        }
        let now = host.clock.referenceMicroseconds
        guard
            member.body.answers.count < EnclaveLimits.circleAnswersMax
                || (now &- member.body.answers.last).magnitude >= EnclaveLimits.circleAnswerIntervalMicroseconds
        else {
            throw Refusal(
                .unavailable,
                "\(member.body.answers.count) devices asked to join and none was admitted, which may be an attack; try again in an hour"
            )
        }
        let answer = try Self.encoded(
            CircleAnswer(circle: circle, digest: asked.digest, member: member.body.me, nonce: try Keybag.randomBytes(32)))
        var next = member
        next.body.pending = CircleBody.Pending(device: asked.device, answer: answer)
        next.body.answers = CircleBody.Answers(count: member.body.answers.count + 1, last: now)
        return try store(next, document: answer)
    }

    /// Reveals this device's keys over an answer, and never over a second one.
    func reveal(over bytes: [UInt8], as member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard member.body.circle == nil, member.body.redemption == nil else { throw Self.alreadyInCircle }
        let device = try Self.encoded(member.body.me)
        let nonce = member.secrets.nonce()
        guard let answer = try? CircleAnswer(derBytes: bytes), answer.digest == CircleCodes.commitment(device, nonce: nonce) else {
            throw Refusal(.badParameter, "The answer is not to this device's request; run vauban sync leave here, then join again")
        }
        guard member.body.revealedFor == nil || member.body.revealedFor == bytes else {
            throw Refusal(
                .badParameter,
                "Another answer replaced the one before: the circle's files may have been tampered with; "
                    + "run vauban sync leave here, then join again"
            )
        }
        let signature = try Self.computed { try member.secrets.sign(.reveal, CircleCodes.digest(bytes) + nonce + device) }
        let reveal = CircleReveal(newcomer: member.body.me, nonce: nonce, signature: signature)
        let codes = CircleCodes.codes(answer: bytes, newcomer: device, nonce: nonce)
        let document = try Self.encoded(reveal)
        guard member.body.revealedFor == nil else {
            return CircleOutcome(CircleReply(member.body.view, document: document, code: codes.newcomer))
        }
        var next = member
        next.body.revealedFor = bytes
        return try store(next, document: document, code: codes.newcomer)
    }

    /// The device of a join request that was committed to, answered, signed, and confirmed by the code.
    struct Newcomer {
        let member: CircleMembership
        let device: CircleDevice
        let codes: (newcomer: String, member: String)

        /// Whether the device is already admitted, so that the request was repeated.
        var isAdmitted: Bool { member.body.device(device.device) == device }
    }

    func newcomer(_ bytes: [UInt8], code: String) throws(Refusal) -> Newcomer {
        let member = try circleMember()
        guard let pending = member.body.pending, (try? CircleAnswer(derBytes: pending.answer)) != nil else {
            throw Refusal(.badParameter, "No device was answered; run: vauban sync approve, without a code")
        }
        guard let reveal = try? CircleReveal(derBytes: bytes), reveal.newcomer.device == pending.device else { throw Self.damagedRequest }
        guard let codes = reveal.codes(over: pending.answer) else { throw Self.damagedRequest }
        guard CircleCodes.isSame(code, as: codes.newcomer) else { throw Self.wrongCode }
        return Newcomer(member: member, device: reveal.newcomer, codes: codes)
    }

    /// Admits a device as a member, which gets the circle keys, or as a companion with a list.
    func admit(_ newcomer: Newcomer, as list: BlindedNames?, isApproved: Bool) throws(Refusal) -> CircleOutcome {
        let member = newcomer.member
        if newcomer.isAdmitted {
            return CircleOutcome(CircleReply(member.body.view, document: member.body.statement, code: newcomer.codes.member))
        }
        guard isApproved else { throw Refusal(.unavailable, "The circle was changed meanwhile; run the command again") }
        let members = list == nil ? [newcomer.device] : []
        let companions = list.map { [CompanionRecord(device: newcomer.device, names: $0)] } ?? []
        var (statement, next) = try member.makeStatement(
            members: member.body.members + members, companions: member.body.companions + companions, rolls: false)
        // Keeps the answer until the next one, so that the second code can be shown again.
        next.body.pending = member.body.pending
        next.body.answers = CircleBody.Answers()
        return try store(next, document: statement, code: newcomer.codes.member)
    }

    struct Entrance {
        let membership: CircleMembership
        let sponsor: CircleCounterpart
    }

    /// Returns this device's part of the circle to which a statement admits it. The statement must come from the member that answered and
    /// showed the code.
    func entrance(_ bytes: [UInt8], code: String) throws(Refusal) -> Entrance {
        let applicant = try membership()
        guard applicant.body.circle == nil, let revealed = applicant.body.revealedFor,
            let answer = try? CircleAnswer(derBytes: revealed)
        else { throw Refusal(.badParameter, "This device does not wait to be admitted; run: vauban sync join FOLDER") }
        let codes = CircleCodes.codes(
            answer: revealed, newcomer: try Self.encoded(applicant.body.me), nonce: applicant.secrets.nonce())
        guard CircleCodes.isSame(code, as: codes.member) else { throw Self.wrongCode }
        let (signed, statement) = try CircleMembership.decoded(bytes)
        guard statement.circle == answer.circle, statement.signer == answer.member.device,
            CircleSignature.statement.isValid(signed.signature, of: signed.statement, by: answer.member.outside)
        else { throw Refusal(.badParameter, "The statement is not of the device that answered") }
        var entered = try applicant.entering(statement, bytes)
        guard entered.body.signers.contains(answer.member.outside) else { throw CircleMembership.damaged }
        entered.body.revealedFor = nil
        return Entrance(membership: entered, sponsor: CircleCounterpart(name: answer.member.name, code: codes.member))
    }

    private static var damagedRequest: Refusal {
        Refusal(
            .badParameter,
            "The join request was altered, or is not the one that was answered; run vauban sync leave on the new device, then join again")
    }

    private static var wrongCode: Refusal {
        Refusal(
            .authenticationFailed,
            "the code is not that of the other device. If it was typed as shown there, the circle's files may have been tampered with: "
                + "do not join here"
        )
    }
}
