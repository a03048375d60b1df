// A typed client of the authentication socket: one method for each request.

import VaubanAuthenticationWire
package import VaubanLinuxHost
package import VaubanPasscode
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanUserModel
import VaubanUserWire

/// A connection pool to authd. A passcode leaves this process only sealed to the enclave, for one challenge.
package final class AuthenticationClient: Sendable {
    package typealias Waiting = (String) -> Void
    package let service: Service
    let connection: ServiceConnection

    package init(service: Service, startsService: Bool = true) {
        self.service = service
        connection = ServiceConnection(
            service: service, address: service.authenticationAddress, role: AuthenticationRole.caller.rawValue, startsService: startsService
        )
    }

    /// Returns the state of this user's device, and where prompts would appear now, best place first.
    package func status() throws(Refusal) -> (device: DeviceStatus, promptPlaces: [String]) {
        let answer = try call(.status)
        guard case .status(let device) = answer.answer else { throw Self.unexpected() }
        return (device, answer.promptPlaces)
    }

    /// Returns a fresh nonce for one use and the key to which to seal the passcode.
    package func challenge(_ purpose: PasscodePurpose) throws(Refusal) -> (challenge: PasscodeChallenge, card: EnclaveKeyCard) {
        let answer = try call(.challenge(purpose))
        guard case .challenge(let challenge) = answer.answer else { throw Self.unexpected() }
        return (challenge, try EnclaveKeyCard(from: answer.descriptors, of: service))
    }

    /// Sets the first passcode, and a recovery key if one is given.
    package func setPasscode(_ new: borrowing SecretBytes, recoveryKey: borrowing RecoveryKey? = nil) throws(Refusal) {
        let (challenge, card) = try challenge(.set)
        let sealedKey = try SealedPasscode(recoveryKey, to: card, for: challenge)
        try send(.setPasscode(recoveryKey: sealedKey), authorizedBy: new, challenge: challenge, card: card)
    }

    /// Changes the passcode. With `rolls`, the enclave also makes new class keys, to which `KeychainClient.rewrap` then moves the items.
    package func changePasscode(from old: borrowing SecretBytes, to new: borrowing SecretBytes, rolls: Bool = false) throws(Refusal) {
        let (challenge, card) = try challenge(.change)
        let sealedNew = try SealedPasscode(new, to: card, for: challenge)
        try send(.changePasscode(new: sealedNew, rolls: rolls), authorizedBy: old, challenge: challenge, card: card)
    }

    package func unlock(_ passcode: borrowing SecretBytes) throws(Refusal) {
        let (challenge, card) = try challenge(.unlock)
        try done(.unlock(challenge, try SealedPasscode(passcode, to: card, for: challenge)))
    }

    package func lock() throws(Refusal) { try done(.lock) }

    /// Returns whether the policy can succeed now, without prompting.
    @discardableResult
    package func canEvaluate(_ policy: OwnerPolicy) throws(Refusal) -> EvaluationResult {
        guard case .evaluated(let result) = try call(.canEvaluate(policy)).answer else { throw Self.unexpected() }
        return result
    }

    /// Returns what the user could answer with now, and whether a prompt of this process would appear anywhere, without prompting.
    package func environment() throws(Refusal) -> (environment: OwnerEnvironment, canBePrompted: Bool) {
        let answer = try call(.environment)
        guard case .environment(let environment) = answer.answer else { throw Self.unexpected() }
        return (environment, !answer.promptPlaces.isEmpty)
    }

    /// Prompts the user if the control needs it. Returns once the user has satisfied it; throws otherwise.
    package func evaluate(
        _ evaluation: Evaluation, waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) -> Authorization {
        let answer = try callKeeping(.evaluate(evaluation), waiting: waiting, cancellation: cancellation)
        guard case .evaluated(let result) = answer.answer, let handle = result.authorization, let channel = answer.kept else {
            throw Self.unexpected()
        }
        return Authorization(handle: handle, domainState: result.domainState, channel: channel)
    }

    /// Evaluates a policy, for callers that need only the outcome.
    package func evaluate(
        _ policy: OwnerPolicy, reason: String, waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) {
        try evaluate(Evaluation(.policy(policy), reason: reason), waiting: waiting, cancellation: cancellation).end()
    }

    func done(
        _ request: UserRequest, waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) {
        guard case .done = try call(request, waiting: waiting, cancellation: cancellation).answer else { throw Self.unexpected() }
    }

    static func unexpected() -> Refusal {
        Refusal(.unavailable, "The authentication service sent a reply that does not match the request")
    }
}
