// What keychaind asks for, on behalf of the registered caller.

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

    /// The item key of a row; asks the user where its control needs that.
    func open(
        _ row: RowBinding, _ wrapped: [UInt8], _ password: borrowing SecretBytes?, _ reason: String?, _ mayAsk: Bool,
        _ authorization: [UInt8]?
    ) throws(Refusal) -> SecretBytes {
        let (caller, vault) = (try registeredCaller(), try vault())
        return switch try vault.open(row, wrapped: wrapped) {
        case .opened(let key): key
        case .layered(let opening): try finish(opening, .readItem, password, reason, mayAsk, authorization, for: caller, in: vault)
        }
    }

    func lease() throws(Refusal) -> Response {
        // What is lent must be recallable: without keychaind's standing line nothing is.
        guard room.leases.isStanding else { throw Refusal(.unavailable, "keys are lent only while they can be called back") }
        let lent = try vault().lease()
        return Response(.leased(lent.lease), secret: lent.keys.duplicate())
    }

    func askConsent(_ consent: Consent, _ reason: String?) throws(Refusal) -> ConsentChoice {
        let gathered = try gather(
            Operation(
                kind: .consent, requirement: Vault.requirement(of: .biometryOrPasscode), protection: .always, reason: reason,
                consent: consent),
            for: try registeredCaller(), in: try vault())
        release()
        return gathered.consent ?? .once
    }
}
