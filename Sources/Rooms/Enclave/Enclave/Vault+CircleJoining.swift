// A device joins a circle (Specs/sync.md, "Joining"): it commits to its keys, a member answers, it reveals them, and the user types a code
// in each direction. Neither side knows the other's nonce when it fixes its own, so nobody can search for keys that give equal codes.

import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

extension Vault {
    /// Commits to the keys of a device that asks to join.
    func apply(_ fresh: CircleMembership) throws(Refusal) -> CircleOutcome {
        let device = try Self.encoded(fresh.body.me)
        let commitment = CircleCommitment(
            device: fresh.body.me.device, digest: CircleCodes.commitment(device, nonce: fresh.secrets.nonce()))
        return try stored(fresh, document: try Self.encoded(commitment))
    }

    /// Answers one commitment. An earlier answer to another device counts no more.
    func answer(_ commitment: [UInt8], as member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard let circle = member.body.circle else { throw CircleMembership.notInCircle }
        guard let asked = try? CircleCommitment(derBytes: commitment),
            !member.body.members.contains(where: { $0.device == asked.device })
        else { throw Self.damagedRequest }
        let answer = try Self.encoded(
            CircleAnswer(circle: circle, digest: asked.digest, member: member.body.me, nonce: try Keybag.randomBytes(32)))
        var next = member
        next.body.pending = CircleBody.Pending(device: asked.device, answer: answer)
        return try stored(next, document: answer)
    }

    /// Reveals this device's keys over an answer. They are revealed over one answer only.
    func reveal(over bytes: [UInt8], as member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard member.body.circle == nil else { throw Refusal(.badParameter, "this device is in a circle already") }
        let device = try Self.encoded(member.body.me)
        let nonce = member.secrets.nonce()
        guard let answer = try? CircleAnswer(derBytes: bytes), answer.digest == CircleCodes.commitment(device, nonce: nonce) else {
            throw Refusal(.badParameter, "the answer is not to this device's request; run vauban sync leave here, then join again")
        }
        guard member.body.revealedFor == nil || member.body.revealedFor == bytes else {
            throw Refusal(
                .badParameter, "another answer replaced the one before: somebody may interfere; run vauban sync leave here, then join again"
            )
        }
        var next = member
        next.body.revealedFor = bytes
        let signature = try Self.computed { try member.secrets.sign(.reveal, CircleCodes.digest(bytes) + nonce + device) }
        let reveal = CircleReveal(newcomer: member.body.me, nonce: nonce, signature: signature)
        let codes = CircleCodes.codes(answer: bytes, newcomer: device, nonce: nonce)
        return try stored(next, document: try Self.encoded(reveal), code: codes.newcomer)
    }

    /// The device of a join request that was committed to, answered, signed, and confirmed by its code.
    struct Newcomer {
        let device: CircleDevice
        let memberCode: String
    }

    func newcomer(_ keybag: [UInt8]?, _ bytes: [UInt8], code: String) throws(Refusal) -> Newcomer {
        let member = try membership(keybag)
        guard let pending = member.body.pending, let answer = try? CircleAnswer(derBytes: pending.answer) else {
            throw Refusal(.badParameter, "no device was answered; run: vauban sync approve")
        }
        guard let reveal = try? CircleReveal(derBytes: bytes), reveal.newcomer.device == pending.device else { throw Self.damagedRequest }
        let device = try Self.encoded(reveal.newcomer)
        guard CircleCodes.commitment(device, nonce: reveal.nonce) == answer.digest,
            CircleSignature.reveal.isValid(
                reveal.signature, of: CircleCodes.digest(pending.answer) + reveal.nonce + device, by: reveal.newcomer)
        else { throw Self.damagedRequest }
        let codes = CircleCodes.codes(answer: pending.answer, newcomer: device, nonce: reveal.nonce)
        guard CircleCodes.isSame(code, as: codes.newcomer) else { throw Self.wrongCode }
        return Newcomer(device: reveal.newcomer, memberCode: codes.member)
    }

    /// Admits a device: seals the circle keys to it.
    func admit(_ newcomer: Newcomer, to member: CircleMembership) throws(Refusal) -> CircleOutcome {
        var admitting = member
        admitting.body.pending = nil
        let (statement, next) = try admitting.stating(member.body.members + [newcomer.device], rolls: false)
        return try stored(next, document: statement, code: newcomer.memberCode)
    }

    /// Returns this device's part of the circle that a statement admits it to, if its sponsor is who answered and showed the code.
    func entrance(
        _ keybag: [UInt8]?, _ bytes: [UInt8], code: String
    ) throws(Refusal) -> (membership: CircleMembership, sponsor: String) {
        let applicant = try membership(keybag)
        guard applicant.body.circle == nil, let revealed = applicant.body.revealedFor,
            let answer = try? CircleAnswer(derBytes: revealed)
        else { throw Refusal(.badParameter, "this device does not wait to be admitted; run: vauban sync join") }
        let codes = CircleCodes.codes(
            answer: revealed, newcomer: try Self.encoded(applicant.body.me), nonce: applicant.secrets.nonce())
        guard CircleCodes.isSame(code, as: codes.member) else { throw Self.wrongCode }
        let (signed, statement) = try CircleMembership.decoded(bytes)
        guard statement.circle == answer.circle, statement.signer == answer.member.device,
            CircleSignature.statement.isValid(signed.signature, of: signed.statement, by: answer.member)
        else { throw Refusal(.badParameter, "the statement is not of the device that answered") }
        var entered = try applicant.entering(statement, bytes)
        guard entered.body.members.contains(answer.member) else { throw CircleMembership.damaged }
        entered.body.revealedFor = nil
        return (entered, answer.member.name)
    }

    private static var damagedRequest: Refusal {
        Refusal(.badParameter, "The join request was altered, or is not the one that was answered; join again on the new device")
    }

    private static var wrongCode: Refusal {
        Refusal(
            .authenticationFailed,
            "The code is not that of the other device. If it was typed as shown there, somebody interferes: do not join here"
        )
    }
}
