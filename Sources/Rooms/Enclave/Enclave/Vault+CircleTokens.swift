// Joining of a circle by a server with a token (Specs/sync.md, "Joining by a token"). The user approves the token where it is made, and
// again where it is redeemed. After that, each of the two enclaves acts once according to the approval.

import Crypto
import FoundationEssentials
import VaubanDER
package import VaubanRefusal
import VaubanSecretBytes
package import VaubanSyncModel

extension Vault {
    // MARK: The member

    /// Makes a token. Its private key leaves the enclave, and only the verification half is stored here.
    func makeToken(
        _ name: String, lasting seconds: Int64, for names: BlindedNames, as member: CircleMembership
    ) throws(Refusal) -> CircleOutcome {
        let now = host.clock.referenceMicroseconds
        let others = try tokens(beside: name, of: member, now)
        guard let circle = member.body.circle else { throw CircleMembership.notInCircle }
        var next = member
        let key = Curve25519.Signing.PrivateKey()
        var raw = key.rawRepresentation
        let seed = TokenSeed(SecretBytes(absorbing: &raw))
        let record = TokenRecord(
            verification: Array(key.publicKey.rawRepresentation), name: name, made: now, expires: now &+ seconds &* 1_000_000, names: names)
        next.body.tokens = others + [record]
        let token = JoinToken(
            circle: circle, member: member.body.me.outside, verification: record.verification, name: name, expires: record.expires)
        let outcome = try store(next, document: try Self.encoded(token))
        return CircleOutcome(outcome.reply, seed: seed)
    }

    /// Throws if no token can be made. Must be called before the user is prompted.
    package func checkToken(named name: String) throws(Refusal) {
        _ = try tokens(beside: name, of: try circleMember(), host.clock.referenceMicroseconds)
    }

    /// Returns the tokens that can still be used. Throws if another one with this name cannot be added.
    private func tokens(beside name: String, of member: CircleMembership, _ now: Int64) throws(Refusal) -> [TokenRecord] {
        guard !name.isEmpty else { throw Refusal(.badParameter, "A companion needs a name") }
        let others = member.body.tokens.filter { now < $0.expires }
        guard !others.contains(where: { $0.name == name }) else {
            throw Refusal(.badParameter, "There is a token for this name already; revoke it first: vauban sync token NAME --revoke")
        }
        guard others.count < JoinToken.countMax else {
            throw Refusal(
                .unsupported, "\(JoinToken.countMax) tokens were made and not used; revoke one first: vauban sync token NAME --revoke")
        }
        return others
    }

    func revokeToken(_ verification: [UInt8], as member: CircleMembership) throws(Refusal) -> CircleOutcome {
        var next = member
        next.body.tokens.removeAll { $0.verification == verification }
        guard next.body.tokens != member.body.tokens else {
            throw Refusal(.badParameter, "This device has no such token any more; vauban sync status lists them")
        }
        return try store(next)
    }

    /// Admits the device of a join request. The same write stores the statement and removes the token, so no token is used twice, even if
    /// the process is killed.
    func admit(byToken bytes: [UInt8], as member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard let circle = member.body.circle else { throw CircleMembership.notInCircle }
        let request: TokenRequest
        do { request = try TokenRequest(derBytes: bytes) } catch {
            guard (error as? DERError)?.newerVersion == nil else {
                throw Refusal(.unsupported, "The join request was made by a later version of Vauban; update Vauban on this device")
            }
            throw Self.damagedTokenRequest
        }
        guard request.member == member.body.me.device else {
            guard !member.body.former.contains(request.member) else {
                throw Refusal(.notAllowedHere, "The device that made the token was removed from the circle")
            }
            throw Refusal(.itemNotFound, "Another device made the token")
        }
        if member.body.companions.contains(where: { $0.device == request.newcomer }) { return CircleOutcome(CircleReply(member.body.view)) }
        guard let token = member.body.tokens.first(where: { $0.verification == request.verification }) else {
            throw Refusal(.notAllowedHere, "The token was used already, was revoked, or has expired")
        }
        // The proof is verified first, so that a device that only knows of the token can neither use it up nor find out its state.
        guard request.isProven(in: circle), request.newcomer.name == token.name, CircleSecrets.areUsable(request.newcomer),
            member.body.device(request.newcomer.device) == nil
        else { throw Self.damagedTokenRequest }
        let now = host.clock.referenceMicroseconds
        guard now >= token.made else {
            throw Refusal(.unavailable, "This device's clock is earlier than when the token was made; set the clock")
        }
        var used = member
        used.body.tokens.removeAll { $0 == token || $0.expires <= now }
        guard now < token.expires else {
            // The token is removed, so that it stays expired even if the clock is set back.
            _ = try store(used)
            throw Refusal(.notAllowedHere, "The token has expired")
        }
        let companion = CompanionRecord(device: request.newcomer, names: token.names)
        var (statement, next) = try used.makeStatement(
            members: member.body.members, companions: member.body.companions + [companion], rolls: false)
        // Does not affect a device that is being admitted by its code at the same time.
        next.body.pending = member.body.pending
        return try store(next, document: statement)
    }

    private static var damagedTokenRequest: Refusal {
        Refusal(.badParameter, "The join request was altered, or was not made by a token of this device")
    }

    // MARK: The new device

    /// Returns the member that made a token. Throws if this device cannot redeem it. Must be called before the user is prompted.
    package func sponsor(ofToken bytes: [UInt8]) throws(Refusal) -> CircleMember {
        guard try membershipIfAny() == nil else { throw Self.alreadyInCircle }
        return try JoinToken.decoded(bytes).member
    }

    /// Makes the keys of this device and the join request. The token's seed is not stored.
    func redeem(_ bytes: [UInt8], seed: borrowing SecretBytes?) throws(Refusal) -> CircleOutcome {
        let token = try JoinToken.decoded(bytes)
        var member = try newMembership(token.name)
        let newcomer = member.body.me
        let proof: [UInt8]?
        switch seed {
        case .none: proof = nil
        case .some(let seed): proof = Self.proof(by: seed, of: token, for: newcomer)
        }
        guard let proof else { throw JoinToken.damaged }
        let request = try Self.encoded(
            TokenRequest(member: token.member.device, verification: token.verification, newcomer: newcomer, proof: proof))
        member.body.redemption = CircleBody.Redemption(circle: token.circle, sponsor: token.member, request: request)
        return try store(member, document: request)
    }

    private static func proof(by seed: borrowing SecretBytes, of token: JoinToken, for newcomer: CircleDevice) -> [UInt8]? {
        guard let key = try? seed.withUnsafeBytes({ try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }),
            Array(key.publicKey.rawRepresentation) == token.verification,
            let bytes = try? TokenRequest.proven(newcomer, to: token.member.device, in: token.circle),
            let signature = try? key.signature(for: CircleSignature.token.bound(bytes))
        else { return nil }
        return Array(signature)
    }

    /// Enters the circle of the token by a statement of the member that made the token. The device becomes a companion and nothing else,
    /// since that is what the user approved.
    func enter(byToken bytes: [UInt8]) throws(Refusal) -> CircleOutcome {
        let applicant = try membership()
        guard applicant.body.circle == nil, let redemption = applicant.body.redemption else {
            throw Refusal(.badParameter, "This device does not wait to be admitted by a token; see: vauban sync status")
        }
        let (signed, statement) = try CircleMembership.decoded(bytes)
        guard statement.circle == redemption.circle, statement.signer == redemption.sponsor.device,
            CircleSignature.statement.isValid(signed.signature, of: signed.statement, by: redemption.sponsor)
        else { throw Refusal(.badParameter, "The statement is not of the device that made the token") }
        var entered = try applicant.entering(statement, bytes)
        guard entered.body.isCompanion, entered.body.signers.contains(redemption.sponsor) else { throw CircleMembership.damaged }
        entered.body.redemption = nil
        return try store(entered)
    }
}
