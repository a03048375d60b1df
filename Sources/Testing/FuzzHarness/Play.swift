import Crypto
import Enclave
import EnclaveWire
import FuzzFinding
import VaubanAccessPolicy
import VaubanDER
import VaubanLogHead
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanSignedNote
import VaubanSyncModel
import VaubanUserModel
import VaubanUserWire

/// A run of requests on one vault. It records every item key that the vault created and verifies that no other key is ever returned.
///
/// Some values replace what a fuzzer cannot produce: a sealed passcode is read as plaintext up to the first zero, a wrapped key of one byte
/// is the one that was created that many seals ago, and a generation of eight zeros is the current one. The reason of a request to open is
/// the user's answer to the prompt.
final class Play {
    private let machine: FuzzMachine
    private let vault: Vault
    private var made: [Made] = []
    /// The number of item keys that were returned.
    private(set) var opened = 0
    private var handOver: HeldSecret?
    private var backup: OpenBackup?
    private var backupKeybag: [UInt8] = []
    private var openCircle: OpenCircle?
    /// The result of the last request about a circle.
    private var circleDocument: [UInt8] = []
    private var circleCode = ""
    private var circleRecoveryKey: CircleRecoveryKey?
    private var recovering: CircleRecovery?
    /// The seed of the last token.
    private var tokenSeed: TokenSeed?
    private static let passphrase = Array("correct horse".utf8)
    private static let restoreKey = Array("a restore key of thirty-two byte".utf8)
    private static let fingers = [UInt8](repeating: 0xF1, count: 32)
    private static let card = EnclaveKeyCard(publicKey: [UInt8](repeating: 0xC4, count: 32))

    private struct Made {
        let row: RowBinding
        let wrapped: [UInt8]
        let key: [UInt8]
    }

    init(_ machine: FuzzMachine) {
        self.machine = machine
        vault = machine.start()
        machine.host.reader.isPresent = true
    }

    func send(_ request: EnclaveRequest) throws {
        try withChecks { () throws in try dispatch(request) }
    }

    /// Applies a device event: a screen lock, sleep, or the passing of time.
    func deliver(_ event: DeviceEvent.Kind) throws {
        try withChecks { () throws in
            switch event {
            case .watching, .blind: break
            case .sleeping: vault.handleSleep()
            case .woke: machine.clock.advance(seconds: 61)
            case .screenLocked: vault.handleScreenLock()
            case .screenUnlocked: vault.handleScreenUnlock()
            }
        }
    }

    private func withChecks(_ step: () throws -> Void) throws {
        do {
            try step()
        } catch let refusal as Refusal {
            try require((try? Refusal(derBytes: refusal.encoded())) == refusal, "a refusal cannot be encoded")
            try require(
                refusal.reason != .internalError && refusal.reason != .stateUnreadable,
                "refused with \(refusal.reason): \(refusal.detail ?? "")")
        }
        let status = vault.status
        try require((try? DeviceStatus(derBytes: status.encoded())) == status, "a status cannot be encoded")
        try require(status.lock != .unreadable, "the state has become unreadable")
        if let ended = vault.endedEpoch {
            vault.confirmRecall(of: ended)
            if let held = vault.takeHandOver() { handOver = held }
        }
    }

    private func dispatch(_ request: EnclaveRequest) throws {
        switch request {
        case .registerCaller, .identify, .handOver: break
        case .seal(let row): try seal(row.with(generation: try current(row.protection, row.generation)))
        case .open(let row, let wrapped, let reason, let mayPrompt, _): try open(row, named: wrapped, reason: reason, mayPrompt: mayPrompt)
        case .rewrap(let row, let wrapped, let generation):
            try rewrap(row, named: wrapped, generation: try current(row.protection, generation))
        case .lease:
            let leased = try vault.lease()
            try require(leased.keys.count == leased.lease.keys.count * KeyLease.keyBytes, "a lease has another number of keys")
            try require((try? KeyLease(derBytes: leased.lease.encoded())) == leased.lease, "a lease cannot be encoded")
        case .openBackup(let keybag, let use, let recipient, let isRestoreKey):
            try openBackup(keybag, use, recipient: recipient, isRestoreKey: isRestoreKey)
        case .backUp(let row, let wrapped):
            let (row, wrapped) = recalled(row.with(generation: try current(row.protection, row.generation)), wrapped)
            if let backup { _ = try vault.backUp(row, wrapped: wrapped, into: backup) }
        case .restoreKeys(let row, let wrapped): if let backup { _ = try vault.restoreKeys(row, wrapped: wrapped, from: backup) }
        case .circle(let request): try circle(request)
        case .sealForCircle(let row, let wrapped):
            let (row, wrapped) = recalled(row.with(generation: try current(row.protection, row.generation)), wrapped)
            if let openCircle { _ = try vault.sealForCircle(row, wrapped: wrapped, in: openCircle) }
        case .circleItemKeys(let row, let wrapped, let epoch):
            if let openCircle { _ = try vault.circleItemKeys(row, wrapped: wrapped, epoch: epoch, in: openCircle) }
        case .sealForCompanion(let row, let wrapped, let device, let name):
            _ = try vault.sealForCompanion(row, wrapped: wrapped, device: device, name: name)
        case .circleNames:
            if let openCircle {
                try require(try vault.circleNames(of: openCircle)?.count ?? 32 == 32, "the names of a circle have a key of another length")
            }
        case .makeSeriesKey:
            let made = try vault.makeSeriesKey()
            try require(made.sealed.count == EnclaveRequest.sealedSeriesKeyBytes, "a key of the access log is sealed in another length")
        case .anchorLog(let links):
            let known = try vault.anchorLog([])
            let anchor = try vault.anchorLog(links)
            try require(anchor.end.number >= known.end.number, "the end of the access log went back")
            try require(anchor.began == known.began, "the access log begins elsewhere after more records")
        case .signLogHead(let request):
            let known = try vault.anchorLog([])
            let head = SignedNote(try vault.signLogHead(request).note)?.head
            try require(request.cosigning != nil || head?.number == known.end.number, "another end of the access log was signed")
        case .openSeriesKey(let sealed): _ = try vault.openSeriesKey(sealed)
        case .nameTeam(let team, let name): vault.teamNames.set(name, of: team)
        case .retire(let names): try vault.retire(names)
        case .keyStatus(let name): _ = try vault.keyStatus(of: name)
        case .consent:
            let decision = vault.evaluate(Vault.requirement(of: .biometryOrPasscode), for: .always, Evidence())
            try require(decision != .allow, "consent is given without evidence")
        case .user(let request): try dispatch(request)
        }
    }

    private func dispatch(_ request: UserRequest) throws {
        switch request {
        case .status, .challenge: break
        case .unlock(_, let sealed): try vault.unlock(secret(sealed))
        case .unlockByFinger:
            guard let handOver else { return vault.recordFingerMiss() }
            try vault.unlock(by: vault.acceptFingerMatch(fingers: Self.fingers), handOver.secret)
        case .unlockByPrompt:
            let decision = vault.evaluate(Requirement(methods: [[.passcode]]), for: .always, Evidence())
            try require(decision != .allow, "a prompt unlocks without evidence")
        case .changeByPrompt(let change):
            let prepared = try vault.prepare(change)
            let decision = vault.evaluate(Requirement(methods: [[.passcode]]), for: .always, Evidence())
            try require(decision != .allow, "a change is made without evidence")
            // A key that no passcode gave.
            let key = SecretBytes(copying: [UInt8](repeating: 0, count: 32))
            switch prepared.change {
            case .configure(let before, let after):
                try vault.configure(after, replacing: before, passcodeKey: key, since: prepared.epoch)
            case .enroll(let unlocks):
                try vault.enroll(fingers: Self.fingers, unlocks: unlocks, passcodeKey: key, since: prepared.epoch)
            case .forgetFingers: try vault.endEnrollment(passcodeKey: key, since: prepared.epoch)
            case .endRecoveryKey: try vault.endRecoveryKey(prepared, passcodeKey: key)
            case .changePasscode:
                try vault.changePasscode(
                    withKey: key, to: SecretBytes(copying: Array("another correct horse".utf8)), since: prepared.epoch)
            case .makeRecoveryKey:
                let new = RecoveryKey(random: SecretBytes(copying: [UInt8](repeating: 5, count: RecoveryKey.keyBytes)))
                try vault.makeRecoveryKey(new, prepared, passcodeKey: key)
            }
            try require(false, "a key that no passcode gave changed something")
        case .lock: try vault.lock()
        case .canEvaluate(let policy): try vault.canEvaluate(policy)
        case .evaluate(let evaluation):
            guard case .policy(let policy) = evaluation.subject else { break }
            let decision = vault.evaluate(Vault.requirement(of: policy), for: .always, Evidence())
            try require(decision != .allow, "a policy is satisfied without evidence")
        case .environment: try require(vault.ownerEnvironment.domainState == nil, "the enrollment hash has no application")
        case .credential(let request, _, let authority): try dispatch(request, secret(authority))
        case .eraseWithoutPasscode:
            try vault.erase(nil)
            forgetMade()
        }
    }

    private func dispatch(_ request: CredentialRequest, _ authority: consuming SecretBytes) throws {
        switch request {
        case .setPasscode(let recovery):
            if let recovery { return try vault.setPasscode(authority, recoveryKey: recoveryKey(recovery)) }
            try vault.setPasscode(authority)
        case .changePasscode(let new, let rolls): try vault.changePasscode(from: authority, to: secret(new), rolls: rolls)
        case .removePasscode: try vault.removePasscode(authority)
        case .erase:
            let passcode: SecretBytes? = authority
            try vault.erase(passcode)
            forgetMade()
        case .recover(let new, let newKey):
            let key: RecoveryKey
            do { key = try RecoveryKey(typed: authority) } catch { throw Refusal(.badParameter, "no recovery key") }
            if let newKey { return try vault.recover(with: key, to: secret(new), newRecoveryKey: recoveryKey(newKey)) }
            try vault.recover(with: key, to: secret(new), newRecoveryKey: nil)
        case .setRecoveryKey(let key):
            if let key { return try vault.setRecoveryKey(recoveryKey(key), passcode: authority) }
            try vault.setRecoveryKey(nil, passcode: authority)
        case .confirmRecoveryKey:
            let key: RecoveryKey
            do { key = try RecoveryKey(typed: authority) } catch { throw Refusal(.badParameter, "no recovery key") }
            try vault.confirmRecoveryKey(key)
        case .configure(let settings): try vault.configure(settings, passcode: authority)
        case .enroll(let unlocks): try vault.enroll(fingers: Self.fingers, unlocks: unlocks, passcodeKey: vault.authenticate(authority))
        case .forgetFingers:
            try vault.endEnrollment(passcodeKey: vault.authenticate(authority))
        case .listFingers: _ = try vault.authenticate(authority)
        }
    }

    /// Discards the keys created before an erasure: they must never be returned again.
    private func forgetMade() { made = made.map { Made(row: $0.row, wrapped: $0.wrapped, key: []) } }

    private func secret(_ passcode: SealedPasscode) -> SecretBytes { SecretBytes(copying: Array(passcode.ciphertext.prefix { $0 != 0 })) }

    private func recoveryKey(_ sealed: SealedPasscode) throws -> RecoveryKey {
        do { return try RecoveryKey(typed: secret(sealed)) } catch { throw Refusal(.badParameter, "no recovery key") }
    }

    // MARK: Item keys

    private func password(_ row: RowBinding) -> SecretBytes? {
        row.accessControl?.needsApplicationPassword == true ? SecretBytes(copying: Array("of the application".utf8)) : nil
    }

    private func seal(_ row: RowBinding) throws {
        try promiseOpen(row) { () throws in
            let sealed = try vault.seal(row, password: password(row))
            made.append(Made(row: row, wrapped: sealed.wrapped, key: sealed.key.withUnsafeBytes { Array($0) }))
        }
    }

    private func open(_ row: RowBinding, named: [UInt8], reason: String?, mayPrompt: Bool) throws {
        let (row, wrapped) = recalled(row, named)
        try promiseOpen(row) { () throws in
            switch try vault.open(row, wrapped: wrapped) {
            case .opened(let key):
                try require(row.accessControl?.requirementToDecrypt.isNone ?? true, "an access control was passed over")
                try check(key, row: row, wrapped: wrapped)
            case .layered(let opening):
                try vault.checkSatisfiable(opening)
                let gathered = OperationEvidence()
                if mayPrompt, let reason {
                    gathered.passcodeKey = try vault.authenticate(SecretBytes(copying: Array(reason.utf8)))
                    gathered.evidence.passcode = machine.clock.boot
                }
                let key = try vault.finish(opening, gathered, password: password(row))
                try require(opening.requirement.isNone || gathered.passcodeKey != nil, "an item for the user opened without one")
                try check(key, row: row, wrapped: wrapped)
            }
        }
    }

    /// Performs a request about a circle. A document of one byte stands for the last result, which a fuzzer cannot guess.
    private func circle(_ request: CircleRequest) throws {
        let last = { (document: [UInt8]) in document.count == 1 ? self.circleDocument : document }
        let asked: CircleRequest =
            switch request {
            case .answer(let commitment): .answer(commitment: last(commitment))
            case .reveal(let answer): .reveal(answer: last(answer))
            case .approve(let reveal, _): .approve(reveal: last(reveal), code: circleCode)
            case .admitCompanion(let reveal, _, let names, let shown):
                .admitCompanion(reveal: last(reveal), code: circleCode, names, shown: shown)
            case .enter(let statement, _): .enter(statement: last(statement), code: circleCode)
            case .follow(let statement): .follow(statement: last(statement))
            case .redeem(let token): .redeem(token: last(token))
            case .admitByToken(let request): .admitByToken(request: last(request))
            case .enterByToken(let statement): .enterByToken(statement: last(statement))
            case .findByRecoveryKey(let statement): .findByRecoveryKey(statement: last(statement))
            case .followByRecoveryKey(let statement): .followByRecoveryKey(statement: last(statement))
            default: request
            }
        let seed: SecretBytes? =
            if case .findByRecoveryKey = asked, let circleRecoveryKey {
                circleRecoveryKey.bytes.duplicate()
            } else if let tokenSeed { tokenSeed.bytes.duplicate() } else { nil }
        let outcome = try vault.circle(
            asked, isApproved: true, secret: seed, recovering: recovering, recoveryKey: circleRecoveryKey, card: Self.card)
        recovering = outcome.recovering
        try require((try? CircleReply(derBytes: outcome.reply.encoded())) == outcome.reply, "a reply about a circle cannot be encoded")
        if let document = outcome.reply.document { circleDocument = document }
        if let code = outcome.reply.code { circleCode = code }
        if let opened = outcome.opened { openCircle = opened }
        if let made = outcome.seed { tokenSeed = made }
        if let made = outcome.recoveryKey { circleRecoveryKey = made }
    }

    /// Creates a backup, or opens the created one if the keybag has one byte: a fuzzer cannot guess a valid keybag, nor a recipient.
    private func openBackup(_ keybag: [UInt8]?, _ use: BackupUse, recipient: [UInt8]?, isRestoreKey: Bool) throws {
        let secret: SecretBytes? = SecretBytes(copying: isRestoreKey ? Self.restoreKey : Self.passphrase)
        let opening: BackupOpening
        if let keybag {
            opening = try vault.openBackup(
                keybag.count == 1 ? backupKeybag : keybag, secret: secret, isRestoreKey: isRestoreKey, use: use)
        } else {
            let own = try XWingMLKEM768X25519.PrivateKey(seedRepresentation: Self.restoreKey, publicKey: nil).publicKey
            opening = try vault.makeBackup(passphrase: secret, recipient: recipient.map { $0[0] == 0 ? Array(own.rawRepresentation) : $0 })
        }
        (backup, backupKeybag) = (opening.backup, opening.keybag)
    }

    private func rewrap(_ row: RowBinding, named: [UInt8], generation: [UInt8]) throws {
        let (row, wrapped) = recalled(row, named)
        let again = try vault.rewrap(row, wrapped: wrapped, to: generation)
        guard let old = made.first(where: { $0.row == row && $0.wrapped == wrapped && !$0.key.isEmpty }) else {
            throw Finding("a key was wrapped again that was not made for this row")
        }
        made.append(Made(row: row.with(generation: generation), wrapped: again, key: old.key))
    }

    private func recalled(_ row: RowBinding, _ wrapped: [UInt8]) -> (RowBinding, [UInt8]) {
        guard wrapped.count == 1, !made.isEmpty else { return (row, wrapped) }
        let known = made[made.count - 1 - Int(wrapped[0]) % made.count]
        // The row is as the fuzzer chose it, except for the generation, which it cannot guess.
        let isUnnamed = row.generation.allSatisfy { $0 == 0 }
        return (isUnnamed ? row.with(generation: known.row.generation) : row, known.wrapped)
    }

    private func current(_ protection: ProtectionClass, _ generation: [UInt8]) throws -> [UInt8] {
        guard generation.allSatisfy({ $0 == 0 }) else { return generation }
        let leased = try vault.lease()
        return leased.lease.keys.first { $0.purpose == .metadata(protection) }?.generation ?? generation
    }

    private func check(_ key: borrowing SecretBytes, row: RowBinding, wrapped: [UInt8]) throws {
        let bytes = key.withUnsafeBytes { Array($0) }
        try require(
            made.contains { $0.row == row && $0.wrapped == wrapped && $0.key == bytes }, "a key came out that was not made for this row")
        opened += 1
    }

    /// Verifies that a class that is locked before a step returns nothing in it.
    private func promiseOpen(_ row: RowBinding, _ step: () throws -> Void) throws {
        let isClosed = row.protection.refusal(while: vault.status.lock) != nil
        try step()
        try require(!isClosed && row.user == FuzzMachine.user, "a closed class, or another user's, gave a key")
    }
}
