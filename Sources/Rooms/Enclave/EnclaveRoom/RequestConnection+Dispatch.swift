// The dispatch tables: every request to the enclave, and every user request that authd forwards.

import Enclave
import EnclaveWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

extension RequestConnection {
    func handle(
        _ request: EnclaveRequest, secret: borrowing SecretBytes?, descriptors: [Descriptor]
    ) throws(Refusal) -> Response {
        guard request.role == nil || request.role == role else { throw Refusal(.notAllowedHere, "This process must not send this request") }
        defer { completeVault() }
        switch request {
        case .registerCaller(let name): return Response(try register(descriptors, name: name))
        case .identify: return Response(.identity(identify(try registeredCaller())))
        case .handOver: return Response(try handOver(descriptors, of: try registeredCaller()))
        case .seal(let row): return try seal(row, secret)
        case .open(let row, let wrapped, let reason, let mayPrompt, let authorization):
            return try open(row, wrapped: wrapped, password: secret, reason: reason, mayPrompt: mayPrompt, authorization: authorization)
        case .lease: return try lease()
        case .rewrap(let row, let wrapped, let generation): return try rewrap(row, wrapped: wrapped, to: generation)
        case .retire(let names): return try retire(names)
        case .keyStatus(let name): return Response(.keyStatus(try vault().keyStatus(of: name)))
        case .consent(let consent, let reason): return Response(.consented(try promptForConsent(consent, reason)))
        case .openBackup(let keybag, let use, let recipient, let isRestoreKey):
            return try openBackup(keybag, use, recipient: recipient, secret: secret, isRestoreKey: isRestoreKey)
        case .backUp(let row, let wrapped): return try backUp(row, wrapped: wrapped)
        case .restoreKeys(let row, let wrapped): return try restoreKeys(row, wrapped: wrapped)
        case .circle(let request): return try circle(request, secret)
        case .sealForCircle(let row, let wrapped): return try sealForCircle(row, wrapped: wrapped)
        case .circleItemKeys(let row, let wrapped, let epoch): return try circleItemKeys(row, wrapped: wrapped, epoch: epoch)
        case .circleNames: return try circleNames()
        case .sealForCompanion(let row, let wrapped, let device, let name):
            return try sealForCompanion(row, wrapped: wrapped, device: device, name: name)
        case .makeSeriesKey: return try makeSeriesKey()
        case .anchorLog(let links): return Response(.logEnd(try vault().anchorLog(links)))
        case .signLogHead(let head): return Response(.logHead(try vault().signLogHead(head)))
        case .openSeriesKey(let sealed): return Response(.opened, secret: try vault().openSeriesKey(sealed))
        case .nameTeam(let team, let name): return try setTeamName(name, of: team)
        case .user(let request): return try response(to: request)
        }
    }

    private func response(to request: UserRequest) throws(Refusal) -> Response {
        let answer = try handle(request)
        return Response(.user(answer), descriptors: answer.descriptorCount == 1 ? [room.keyCard] : [])
    }

    private func handle(_ request: UserRequest) throws(Refusal) -> UserAnswer {
        let (caller, vault) = (try registeredCaller(), try vault())
        switch request {
        case .status: return .status(status(of: vault))
        case .challenge(let purpose): return .challenge(try room.inbox.challenge(purpose, for: caller.uid))
        case .unlock(let challenge, let passcode): try unlock(challenge, passcode, for: caller, in: vault)
        case .unlockByFinger: try unlockByFinger(for: caller, in: vault)
        case .unlockByPrompt(let reason): try unlockByPrompt(reason, for: caller, in: vault)
        case .changeByPrompt(let change): try changeByPrompt(change, for: caller, in: vault)
        case .lock: try vault.lock()
        case .canEvaluate(let policy): return .evaluated(try canEvaluate(policy, for: caller, in: vault))
        case .evaluate(let evaluation): return .evaluated(try evaluate(evaluation, for: caller, in: vault))
        case .environment: return .environment(environment(for: caller, in: vault))
        case .credential(let request, let challenge, let authority):
            return try handle(request, challenge, authority: authority, for: caller, in: vault)
        case .eraseWithoutPasscode(let challenge): try eraseWithoutPasscode(challenge, for: caller, in: vault)
        }
        return .done
    }

    private func handle(
        _ request: CredentialRequest, _ challenge: PasscodeChallenge, authority: SealedPasscode, for caller: Peer, in vault: Vault
    ) throws(Refusal) -> UserAnswer {
        let secrets = try unseal(challenge, authority: authority, authorizing: request, caller: caller)
        switch request {
        case .setPasscode: try setPasscode(secrets, for: caller, in: vault)
        case .changePasscode(_, let rolls): try changePasscode(secrets, rolls: rolls, for: caller, in: vault)
        case .removePasscode: try removePasscode(secrets, for: caller, in: vault)
        case .erase: try erase(secrets, for: caller, in: vault)
        case .recover: try recover(secrets, for: caller, in: vault)
        case .setRecoveryKey: try setRecoveryKey(secrets, for: caller, in: vault)
        case .confirmRecoveryKey: try confirmRecoveryKey(secrets, in: vault)
        case .configure(let settings): try configure(settings, secrets, for: caller, in: vault)
        case .enroll(let unlocks): try enroll(secrets, unlocks: unlocks, for: caller, in: vault)
        case .forgetFingers: try forgetFingers(secrets, for: caller, in: vault)
        case .listFingers: return .fingers(try listFingers(secrets, for: caller, in: vault))
        }
        return .done
    }
}
