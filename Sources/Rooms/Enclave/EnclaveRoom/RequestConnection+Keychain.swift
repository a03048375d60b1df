// The requests of keychaind on behalf of the registered caller.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

extension RequestConnection {
    func seal(_ row: RowBinding, _ password: borrowing SecretBytes?) throws(Refusal) -> Response {
        let sealed = try vault().seal(row, password: password, for: requester(for: try registeredCaller()))
        return Response(.sealed(wrapped: sealed.wrapped), secret: sealed.key.duplicate())
    }

    /// Responds with the item key of a row. Prompts the user if its access control requires it.
    func open(
        _ row: RowBinding, wrapped: [UInt8], password: borrowing SecretBytes?, reason: String?, mayPrompt: Bool, authorization: [UInt8]?
    ) throws(Refusal) -> Response {
        let key = try itemKey(
            row, wrapped: wrapped, password: password, reason: reason, mayPrompt: mayPrompt, authorization: authorization)
        return Response(.opened, secret: key)
    }

    private func itemKey(
        _ row: RowBinding, wrapped: [UInt8], password: borrowing SecretBytes?, reason: String?, mayPrompt: Bool, authorization: [UInt8]?
    ) throws(Refusal) -> SecretBytes {
        let (caller, vault) = (try registeredCaller(), try vault())
        return switch try vault.open(row, wrapped: wrapped) {
        case .opened(let key): key
        case .layered(let opening):
            try finish(
                opening, as: .readItem, password: password, reason: reason, mayPrompt: mayPrompt,
                beginning: room.authorizations.evidence(authorization, for: caller, in: vault) ?? OperationEvidence(), for: caller,
                in: vault)
        }
    }

    func rewrap(_ row: RowBinding, wrapped: [UInt8], to generation: [UInt8]) throws(Refusal) -> Response {
        Response(.sealed(wrapped: try vault().rewrap(row, wrapped: wrapped, to: generation)))
    }

    func retire(_ names: [KeyName]) throws(Refusal) -> Response {
        try vault().retire(names)
        return Response(.done)
    }

    func makeSeriesKey() throws(Refusal) -> Response {
        let made = try vault().makeSeriesKey()
        return Response(.seriesKey(sealed: made.sealed, made.end), secret: made.key.duplicate())
    }

    func setTeamName(_ name: String?, of team: TeamIdentifier) throws(Refusal) -> Response {
        try vault().teamNames.set(name, of: team)
        return Response(.done)
    }

    func lease() throws(Refusal) -> Response {
        // The enclave must be able to recall a lease, which needs keychaind's standing connection.
        guard room.leases.isStanding else { throw Refusal(.unavailable, "Keys are leased only while they can be recalled") }
        let leased = try vault().lease()
        return Response(.leased(leased.lease), secret: leased.keys.duplicate())
    }

    /// Prompts for a consent. Offers no fingerprint for a choice of accounts, since it cannot select one.
    func promptForConsent(_ consent: Consent, _ reason: String?) throws(Refusal) -> ConsentChoice {
        let gathered = try gather(
            Operation(
                kind: .consent,
                requirement: consent.accounts.isEmpty ? Vault.requirement(of: .biometryOrPasscode) : Requirement(methods: [[.passcode]]),
                protection: .always, reason: reason,
                consent: consent),
            for: try registeredCaller(), in: try vault())
        release()
        return gathered.consent ?? .once
    }
}
