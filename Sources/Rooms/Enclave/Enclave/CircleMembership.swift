// Who is in a circle: statements are written and followed here, as functions of a device's own part of the circle (Specs/sync.md).

import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// A device's part of a circle, with its keys.
struct CircleMembership: Sendable {
    var body: CircleBody
    var secrets: CircleSecrets
    /// What is stored now, and is replaced only if it is still the same; nil before the first time.
    var stored: CircleContent?
    /// The epoch of the vault in which it was opened.
    var vaultEpoch: Int64 = 0

    // MARK: Writing

    /// Makes a statement of new members, with a new circle key if someone is removed, and follows it.
    func stating(_ members: [CircleDevice], rolls: Bool) throws(Refusal) -> (statement: [UInt8], CircleMembership) {
        guard let circle = body.circle else { throw Self.notInCircle }
        guard body.number < CircleRequest.numberMax else {
            throw Refusal(
                .unsupported, "This circle was changed too often; start a new one: vauban sync leave, then vauban sync new FOLDER")
        }
        guard members.count <= CircleRequest.membersMax else {
            throw Refusal(.unsupported, "A circle has at most 10 devices; remove one first: vauban sync remove")
        }
        var next = self
        if rolls {
            guard body.epoch < CircleRequest.epochsMax else {
                throw Refusal(
                    .unsupported,
                    "Too many devices were removed from this circle; start a new one: vauban sync leave, then vauban sync new FOLDER")
            }
            next.secrets = secrets.adding(try Keybag.randomKey())
            next.body.epoch += 1
        }
        next.body.number += 1
        next.body.members = members
        next.body.pending = nil
        do {
            let blank = CircleStatement(
                circle: circle, number: next.body.number, previous: body.digest, epoch: next.body.epoch, signer: body.me.device,
                shares: [], members: [], earlier: nil)
            let key = next.secrets.key(of: next.secrets.epochs)
            let earlier =
                next.secrets.epochs == 1
                ? nil
                : try KeyWrap.wrap(
                    next.secrets.circleKeys(includingLast: false), under: key, label: Self.earlierLabel, context: blank.context)
            let statement = CircleStatement(
                circle: circle, number: blank.number, previous: blank.previous, epoch: blank.epoch, signer: blank.signer,
                shares: try members.map { try CircleSecrets.share(key, with: $0, info: Self.info(blank, $0.device)) },
                members: try KeyWrap.wrap(
                    SecretBytes(copying: try CircleMembers(members).encoded()), under: key, label: Self.membersLabel,
                    context: blank.context),
                earlier: earlier)
            let bytes = try statement.encoded()
            let signed = try SignedStatement(statement: bytes, signature: try secrets.sign(.statement, bytes)).encoded()
            next.body.digest = CircleCodes.digest(signed)
            next.body.statement = signed
            return (signed, next)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            // A member's key was checked when it joined.
            throw Refusal(.badParameter, "the circle's keys cannot be encrypted to a device")
        }
    }

    // MARK: Following

    /// Follows the next statement of a member. Throws if it is not the next one, not a member's, or admits more than it may.
    func following(_ bytes: [UInt8]) throws(Refusal) -> CircleMembership {
        guard let circle = body.circle else { throw Self.notInCircle }
        let (signed, statement) = try Self.decoded(bytes)
        guard statement.circle == circle else { throw Refusal(.badParameter, "the statement is of another circle") }
        guard statement.number - 1 == body.number, statement.previous == body.digest else { throw Self.forked }
        guard let signer = body.members.first(where: { $0.device == statement.signer }),
            CircleSignature.statement.isValid(signed.signature, of: signed.statement, by: signer)
        else { throw Refusal(.badParameter, "a statement about the circle is not signed by a device of it") }
        guard statement.epoch == body.epoch || statement.epoch == body.epoch + 1 else { throw Self.damaged }
        let next = try entering(statement, bytes)
        // What is known stays: a statement adds devices, or removes some under a new key.
        let known = secrets.circleKeys(includingLast: true)
        guard next.secrets.circleKeys(includingLast: true).part(0..<known.count).equals(known) else { throw Self.damaged }
        for member in next.body.members {
            if let earlier = body.members.first(where: { $0.device == member.device }), earlier != member { throw Self.damaged }
        }
        for member in next.body.members where !body.members.contains(where: { $0.device == member.device }) {
            // Whoever admits a device with keys that cannot be used would keep everybody from removing anyone.
            guard CircleSecrets.areUsable(member) else { throw Self.damaged }
        }
        let isOneRemoved = body.members.contains { member in !next.body.members.contains { $0.device == member.device } }
        guard !isOneRemoved || next.body.epoch > body.epoch else { throw Self.damaged }
        var followed = next
        if let pending = body.pending, !next.body.members.contains(where: { $0.device == pending.device }) {
            // A device that was admitted and removed again needs a new approval.
            if body.members.contains(where: { $0.device == pending.device }) { followed.body.pending = nil }
        }
        return followed
    }

    /// Takes over what a statement, whose signature is verified, says to this device.
    func entering(_ statement: CircleStatement, _ bytes: [UInt8]) throws(Refusal) -> CircleMembership {
        guard let share = statement.shares.first(where: { $0.device == body.me.device }) else {
            throw Refusal(.notAllowedHere, "This device was removed from the circle; run vauban sync leave, then join again")
        }
        do {
            let own = CircleSecrets(secrets.bytes.part(0..<2 * CircleSecrets.keyBytes))
            let key = try own.openShare(share, info: Self.info(statement, body.me.device))
            var next = self
            switch statement.earlier {
            case nil:
                guard statement.epoch == 1 else { throw WrapError() }
                next.secrets = own.adding(key)
            case let earlier?:
                let keys = try KeyWrap.unwrap(earlier, under: key, label: Self.earlierLabel, context: statement.context)
                next.secrets = own.adding(CircleSecrets.joined(keys, key))
            }
            guard next.secrets.bytes.count == CircleSecrets.byteCount(epochs: statement.epoch) else { throw WrapError() }
            let list = try KeyWrap.unwrap(statement.members, under: key, label: Self.membersLabel, context: statement.context)
            next.body.members = try CircleMembers(derBytes: list.withUnsafeBytes { Array($0) }).list
            let devices = next.body.members.map(\.device)
            guard devices == statement.shares.map(\.device), Set(devices).count == devices.count,
                next.body.members.contains(body.me)
            else { throw WrapError() }
            next.body.circle = statement.circle
            next.body.number = statement.number
            next.body.digest = CircleCodes.digest(bytes)
            next.body.epoch = statement.epoch
            next.body.statement = nil
            return next
        } catch {
            throw Self.damaged
        }
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

    // MARK: Parts

    private static func info(_ statement: CircleStatement, _ device: [UInt8]) -> [UInt8] {
        Array("vauban sync share v1".utf8) + [0] + statement.context + device
    }

    private static let membersLabel = "vauban sync members v1"
    private static let earlierLabel = "vauban sync earlier keys v1"

    static var notInCircle: Refusal { Refusal(.notAllowedHere, "This device is in no circle; run: vauban sync new, or vauban sync join") }
    static var damaged: Refusal { Refusal(.badParameter, "A statement about the circle was altered, or is incomplete") }
    static var forked: Refusal {
        Refusal(
            .badParameter,
            "The circle was changed in two places at once, or its folder was rolled back; run vauban sync leave here, then join again")
    }
}
