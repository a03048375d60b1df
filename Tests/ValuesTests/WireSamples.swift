import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanAssociationsWire
import VaubanAuthenticationWire
import VaubanDER
import VaubanKeyWire
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLogHead
import VaubanRefusal
import VaubanSignedNote
import VaubanSyncModel
import VaubanUserModel
import VaubanUserWire

/// One message of each kind of the three wires, with every optional field present in one and absent in another.
struct WireSample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    /// Decodes bytes as this message's type and encodes them again.
    let again: @Sendable ([UInt8]) throws -> [UInt8]
    /// Whether decoding returns an equal value.
    let readsBackEqual: Bool

    init<Value: DERReadable & DERWritable & Hashable & SendableMetatype>(_ name: String, _ value: Value) {
        testDescription = "\(Value.self) \(name)"
        bytes = (try? value.encoded()) ?? []
        again = { try Value(derBytes: $0).encoded() }
        readsBackEqual = (try? Value(derBytes: bytes)) == value
    }

    static func octets(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

    static let control = try? AccessControl(protection: .whenUnlocked, flags: .userPresence)
    static let row = RowBinding(
        user: 1000, protection: .whenUnlocked, generation: [1, 2, 3, 4, 5, 6, 7, 8], item: octets(0x11, 16), version: octets(0x22, 16),
        kind: 1, accessGroup: "unsigned", accessControl: control)
    private static let plainRow = RowBinding(
        user: .max, protection: .alwaysThisDeviceOnly, generation: octets(0, 8), item: octets(0, 16), version: octets(0xFF, 16),
        kind: 255,
        accessGroup: "", accessControl: nil)
    private static let challenge = PasscodeChallenge(nonce: octets(3, 32), purpose: .change)
    private static let passcode = SealedPasscode(encapsulated: octets(4, 32), ciphertext: octets(5, 22))
    static let refusal = Refusal(.authenticationFailed, "the passcode is wrong", attemptsLeft: 4, secondsToWait: 0)
    private static let status = DeviceStatus(
        lock: .locked, cause: .lockRequested, since: -1, passcodeIsSet: true, attemptsLeft: 5, secondsToWait: 3600, warnings: ["one", ""])
    private static let lease = KeyLease(
        user: 1000, epoch: 7, lock: .unlocked, passcodeIsSet: true,
        keys: [
            KeyLease.Key(purpose: .metadata(.whenUnlocked), generation: octets(1, 8)),
            KeyLease.Key(purpose: .firstUnlockIndex, generation: octets(2, 8)),
            KeyLease.Key(purpose: .deviceIndex, generation: octets(3, 8)),
        ])
    private static let fullStatus: DeviceStatus = {
        var full = status
        full.failedAttempts = [FailedAttempt(date: 5, purpose: .unlock, who: "/usr/bin/vauban")]
        full.recoveryKeyIsSet = true
        full.earlierRecoveryKeyWorks = true
        full.recovered = -1
        full.settings = LockSettings(graceSeconds: 10, idleSeconds: 600, locksWithScreen: true)
        full.biometry = DeviceStatus.Biometry(readerIsPresent: true, isEnrolled: true, isReady: false, unlocks: true, missesLeft: 2)
        full.hasOlderKeys = true
        full.sleepIsAnnounced = true
        return full
    }()
    private static let request = PromptRequest(
        prompt: octets(6, 16), user: 1000, challenge: PasscodeChallenge(nonce: octets(7, 32), purpose: .prompt),
        caller: CallerName(pid: 42, path: "/usr/bin/ä"), operation: .readItem, reason: "to log in", attempt: 3, attemptsLeft: 0)
    private static let sheetRequest = PromptRequest(
        prompt: octets(6, 16), user: 1000, challenge: PasscodeChallenge(nonce: octets(7, 32), purpose: .prompt),
        caller: CallerName(pid: 42, path: "/app/bin/x", confinement: CallerName.Confinement(.flatpak, "org.example.Editor")),
        operation: .evaluatePolicy, reason: "open notes", attempt: 1, attemptsLeft: 5, methods: .finger,
        state: PromptState(finger: .awaited, fingersLeft: 4, secondsToWait: 59), titles: PromptTitles(cancel: "Not now", fallback: ""))
    static let hold = PromptHold(seconds: 300, namespace: "git", program: CallerName(pid: 43, path: "/usr/bin/ssh-keygen"))
    private static let holdRequest = PromptRequest(
        prompt: octets(6, 16), user: 1000, challenge: PasscodeChallenge(nonce: octets(7, 32), purpose: .prompt),
        caller: CallerName(pid: 42, path: "/usr/bin/vauban-ssh-agent"), operation: .sign, reason: "sign a commit", attempt: 1,
        attemptsLeft: 5, hold: hold)
    private static let changes: [CredentialChange] = [
        .configure(before: .standard, after: LockSettings(graceSeconds: 10, idleSeconds: 900, locksWithScreen: true)),
        .enroll(unlocks: false), .enroll(unlocks: true), .forgetFingers, .endRecoveryKey, .changePasscode, .makeRecoveryKey,
    ]
    private static func changeRequest(_ change: CredentialChange, isMade: Bool = false) -> PromptRequest {
        PromptRequest(
            prompt: octets(6, 16), user: 1000, challenge: PasscodeChallenge(nonce: octets(7, 32), purpose: .prompt),
            caller: CallerName(pid: 42, path: "/usr/bin/vauban-desktop"), operation: .changeCredential, reason: nil, attempt: 1,
            attemptsLeft: 5, change: change, isMade: isMade)
    }
    static let message = Array("SSHSIG".utf8) + [0, 0, 0, 3] + Array("git".utf8) + octets(0, 4)
    private static let update = PromptUpdate(.hint, fingersLeft: 4, hint: .notCentered)
    private static let evaluation = Evaluation(
        control.map { .control($0, .sign) } ?? .policy(.biometry), reason: "sign", mayPrompt: false, reuseSeconds: 300,
        titles: PromptTitles(cancel: nil, fallback: "Other"),
        authorization: octets(9, 32))
    private static let bareRequest = PromptRequest(
        prompt: octets(6, 16), user: 0, challenge: PasscodeChallenge(nonce: octets(7, 32), purpose: .prompt),
        caller: CallerName(pid: 0, path: nil),
        operation: .evaluatePolicy, reason: nil, attempt: 1, attemptsLeft: 100)
    static let executable = ExecutableIdentity(path: "/a", device: -1, inode: .max, digest: octets(8, 32))
    static let identity = CallerIdentity(
        .installed, throughCommandLine: true, executable: executable, package: "a", unit: "app.scope", chain: ["/usr/bin/vauban", "", "/a"])
    private static let signedIdentity = CallerIdentity(
        .own, executable: executable,
        signer: CodeSigner(
            team: TeamIdentifier(keyDigest: octets(9, 32)), identifier: "com.acme.tool", entitlements: Array("<plist/>".utf8)))
    private static let startedIdentity = CallerIdentity(
        .flatpak(name: "org.example.App"), parents: ["/usr/bin/bash", "", "/usr/sbin/sshd"])
    static let consent = Consent(
        .readItem, offered: [.once, .untilLock, .always], item: "bank/anna", owner: "program:/usr/bin/bank", program: "/usr/bin/a")
    private static let consentRequest = PromptRequest(
        prompt: octets(6, 16), user: 1000, challenge: PasscodeChallenge(nonce: octets(7, 32), purpose: .prompt),
        caller: CallerName(pid: 42, path: "/usr/bin/vauban", gap: .interpreter, startedBy: ["/usr/bin/bash"]), operation: .consent,
        reason: nil, attempt: 1, attemptsLeft: 5, consent: consent)
    private static let signedRequest = PromptRequest(
        prompt: octets(6, 16), user: 1000, challenge: PasscodeChallenge(nonce: octets(7, 32), purpose: .prompt),
        caller: CallerName(pid: 42, path: "/home/a/tool", signature: .init(identifier: "com.acme.tool", team: "Acme Tools")),
        operation: .sign, reason: nil, attempt: 1, attemptsLeft: 5)
    static let attributes = ItemAttributes([
        .account: .text("anna"), .service: .data([0xFF]), .type: .number(-1), .creationDate: .date(1),
    ])
    static let query: ItemQuery = {
        var query = ItemQuery(kind: .internetPassword, attributes: attributes)
        query.protection = .always
        query.limit = .count(3)
        query.returns = [.data, .attributes]
        query.includesSynchronizable = true
        query.authenticationUI = .skip
        query.operationPrompt = "to log in"
        query.authorization = octets(9, 32)
        return query
    }()
    static let record = ItemRecord(kind: .genericPassword, attributes: attributes, accessControl: control)

    static let accessRecord = AccessRecord(
        began: .min, ended: .max, action: .synchronized, outcome: .notApproved, unrecorded: 3,
        program: AccessProgram(application: "", path: "/usr/bin/bash", throughCommandLine: true, commands: ["/usr/bin/vauban", ""]),
        parents: ["", "/usr/sbin/sshd"], items: [UsedItem(item: octets(1, 16), kind: 1, count: .max, owner: "cli", name: "github/anna")])
    static let canaryRecord = AccessRecord(
        began: 1, ended: 2, action: .read, outcome: .done, program: nil,
        items: [UsedItem(item: octets(1, 16), kind: 1, owner: "cli", name: "aws/root", isCanary: true)])

    static let signedRecord = AccessRecord(
        began: 1, ended: 1, action: .signed, outcome: .done, program: nil,
        items: [UsedItem(item: octets(1, 16), kind: 4, count: 12, owner: "cli", name: "work")])
    private static let keyUses = KeyUseNotice(
        user: 1000, identity: nil, teamIsTrusted: false, unrecorded: 3,
        uses: [
            CountedKeyUse(
                key: UsedKey(digest: octets(1, 32), label: octets(2, 20)), action: .signed, outcome: .done, count: CountedKeyUse.countMax),
            CountedKeyUse(key: nil, action: .decrypted, outcome: .notApproved, count: 1),
        ])
    private static let keyUsesOfSigned = KeyUseNotice(user: .max, identity: signedIdentity, teamIsTrusted: true, uses: [])

    static let enclave: [WireSample] =
        [
            EnclaveRequest.registerCaller(name: nil), .identify, .consent(consent, reason: "why"),
            .consent(Consent(.listOwners, offered: .once), reason: nil),
            .consent(Consent(.usePassword, offered: .once, item: "example.com", accounts: ["anna", "ben"]), reason: nil), .seal(row),
            .seal(plainRow),
            .open(row, wrapped: [1], reason: "why", mayPrompt: true),
            .open(row, wrapped: octets(1, 512), reason: nil, mayPrompt: false), .lease,
            .rewrap(row, wrapped: [1], generation: octets(4, 8)), .retire([KeyName(purpose: 6, generation: octets(4, 8))]),
            .keyStatus(KeyName(purpose: 203, generation: octets(4, 8))), .handOver, .openBackup(keybag: nil, .backUp),
            .openBackup(keybag: [1, 2, 3], .restore), .openBackup(keybag: nil, .backUp, recipient: octets(3, 1216)),
            .openBackup(keybag: [1, 2, 3], .restore, secretIsRestoreKey: true), .backUp(plainRow, wrapped: [1]),
            .restoreKeys(plainRow, wrapped: octets(1, 60)),
            .circle(.begin(name: "a")), .circle(.open), .sealForCircle(plainRow, wrapped: [1]),
            .circleItemKeys(plainRow, wrapped: octets(1, 60), epoch: 1), .circleNames,
            .sealForCompanion(plainRow, wrapped: octets(1, 60), device: octets(1, 16), name: octets(2, 16)),
            .circle(.admitCompanion(reveal: [1], code: "123 456", someNames, shown: "“bank/anna”")),
            .circle(.allow(device: octets(1, 16), someNames, shown: "")), .circle(.disallow(device: octets(1, 16), .empty, shown: "")),
            .circle(.companionFiles(device: octets(1, 16))),
            .circle(.makeToken(name: "ci", seconds: 3600, someNames, shown: "“bank/anna”")), .circle(.redeem(token: [1])),
            .circle(.admitByToken(request: [1])), .circle(.enterByToken(statement: [1])),
            .circle(.revokeToken(verification: octets(7, 32))), .circle(.makeRecoveryKey), .circle(.endRecoveryKey),
            .circle(.signKeyCard(with: octets(8, 32))),
            .circle(.findByRecoveryKey(statement: [1])), .circle(.followByRecoveryKey(statement: [1])),
            .circle(.enterByRecoveryKey(name: "laptop")),
            .makeSeriesKey,
            .anchorLog([AccessLogLink(number: 7, series: 1, digest: octets(2, 32))]), .anchorLog([]),
            .openSeriesKey(octets(3, EnclaveRequest.sealedSeriesKeyBytes)),
            .signLogHead(LogHeadRequest()), .signLogHead(LogHeadRequest(cosigning: octets(1, LogHeadLimits.noteBytesMax))),
            .nameTeam(TeamIdentifier(keyDigest: octets(9, 32)), name: "Acme Tools"),
            .nameTeam(TeamIdentifier(keyDigest: octets(9, 32)), name: nil), .circle(.confirmRecoveryKey),
            .registerCaller(name: "carla"),
        ].enumerated().map { WireSample("\($0)", $1) }
        + userRequests.enumerated().map { WireSample("user \($0)", EnclaveRequest.user($1)) }
        + [
            EnclaveReply.refused(refusal), .refused(Refusal(.locked)), .done, .caller(user: 1000, pid: 1), .sealed(wrapped: [1, 2, 3]),
            .opened,
            .leased(lease), .waitingForUser(place: "pts/3"), .queued, .keyStatus(.destroyed), .identity(identity), .identity(.unseen),
            .consented(.untilLock), .consented(.account(7)), .backup(keybag: [1, 2, 3]), .restoreKeys(isOfOtherDevice: true),
            .circle(circleReply), .circle(CircleReply(circleView)), .circle(companionReply), .circle(tokenReply), .circle(waitingReply),
            .circle(recoveryReply),
            .seriesKey(sealed: octets(3, EnclaveRequest.sealedSeriesKeyBytes), .empty),
            .logEnd(AccessLogAnchor(end: AccessLogEnd(number: 1 << 48, chain: octets(2, 32)), began: nil)), .logHead(signedHead),
            .logEnd(AccessLogAnchor(end: AccessLogEnd(number: 1 << 48, chain: octets(2, 32)), began: 1 << 48)),
        ].enumerated().map { WireSample("\($0)", $1) }
        + userAnswers.enumerated().map { WireSample("user \($0)", EnclaveReply.user($1)) } + [
            WireSample("", LeaseStanding()), WireSample("", LeaseRecall(user: 1000, epoch: .max, everything: false)),
            WireSample("", LeaseErased(user: 1000, epoch: 0)),
            WireSample("", keyUses), WireSample("by a signed program", keyUsesOfSigned), WireSample("", KeyUsesNoted()),
            WireSample("ask", PromptNotice.ask(request)), WireSample("bare", PromptNotice.ask(bareRequest)),
            WireSample("changed", PromptNotice.changed(user: .max)),
            WireSample("resolved", PromptNotice.resolved(prompt: octets(6, 16), .callerGone)),
            WireSample("to the sheet", PromptNotice.ask(sheetRequest)),
            WireSample("whose answer holds", PromptNotice.ask(holdRequest)),
            WireSample("update", PromptNotice.update(prompt: octets(6, 16), update)),
            WireSample("shown", PromptReport.shown(prompt: octets(6, 16), place: "here")),
            WireSample("waiting", PromptReport.waiting(prompt: octets(6, 16), place: "there")),
            WireSample("passcode", PromptReport.answered(prompt: octets(6, 16), challenge: octets(7, 32), .passcode(passcode))),
            WireSample("nobody", PromptReport.answered(prompt: octets(6, 16), challenge: octets(7, 32), .nobody)),
            WireSample("", WitnessRequest(number: 1, pid: 42)), WireSample("none", WitnessAnswer(number: 1, identity: .unseen)),
            WireSample("installed", WitnessAnswer(number: 1, identity: identity)),
            WireSample("flatpak", WitnessAnswer(number: 1, identity: CallerIdentity(.flatpak(name: "org.example.App")))),
            WireSample("snap", WitnessAnswer(number: 1, identity: CallerIdentity(.snap(name: "app"), package: "app"))),
            WireSample("own", WitnessAnswer(number: 1, identity: CallerIdentity(.own, executable: executable))),
            WireSample("signed", WitnessAnswer(number: 1, identity: signedIdentity)),
            WireSample("with parents", WitnessAnswer(number: 1, identity: startedIdentity)),
            WireSample("consent", PromptReport.answered(prompt: octets(6, 16), challenge: octets(7, 32), .consent(passcode, .always))),
            WireSample("to consent", PromptNotice.ask(consentRequest)),
            WireSample(
                "credential", PromptReport.answered(prompt: octets(6, 16), challenge: octets(7, 32), .credential(passcode, new: passcode))),
            WireSample("seen", PromptReport.answered(prompt: octets(6, 16), challenge: octets(7, 32), .seen)),
            WireSample("to see", PromptNotice.ask(changeRequest(.makeRecoveryKey, isMade: true))),
            WireSample("of a signed program", PromptNotice.ask(signedRequest)),
        ] + changes.enumerated().map { WireSample("to change \($0)", PromptNotice.ask(changeRequest($1))) } + reader + device + keys

    static let reader: [WireSample] =
        [
            ReaderNotice.pair, .ready, .ask(user: 1000, nonce: octets(1, 32)), .cancel(nonce: octets(1, 32)),
            .enroll(user: 1000, nonce: octets(1, 32)), .forgetFingers(user: 1000, nonce: octets(1, 32)), .hold(user: 1000),
            .drop(user: 1000), .list(user: 1000, nonce: octets(1, 32)),
        ].enumerated().map { WireSample("\($0)", $1) }
        + [
            ReaderReport.hello(isPaired: true), .sensor(isPresent: false), .hint(nonce: octets(1, 32), .progress, done: 1, total: 5),
            .fingers(nonce: octets(1, 32), ["right-index-finger"]), .fingers(nonce: octets(1, 32), []),
            .verdict(ReaderVerdict(outcome: .matched, user: 1000, nonce: octets(1, 32), fingers: octets(2, 32), code: octets(3, 32))),
        ].enumerated().map { WireSample("\($0)", $1) }

    static let device: [WireSample] =
        [
            DeviceEvent.Kind.watching, .blind, .sleeping, .woke, .screenLocked(user: 1000), .screenUnlocked(user: .max),
        ].enumerated().map { WireSample("\($0)", DeviceEvent(number: .max, $1)) } + [WireSample("", DeviceEventDone(number: 0))]

    static let keys: [WireSample] = {
        guard let control else { return [] }
        func key(_ kind: EnclaveKeyKind) -> EnclaveKey {
            EnclaveKey(
                kind: kind, user: 1000, identifier: octets(1, 16), control: control, publicKey: octets(2, kind.publicBytes),
                generation: octets(3, 8), wrapped: octets(4, 60))
        }
        func use(_ operation: KeyOperation, reason: String?, hold: AnswerHold? = nil) -> KeyUse {
            KeyUse(
                handle: .max, operation: operation, input: octets(5, 32), mayPrompt: true, reason: reason,
                authorization: reason.map { _ in octets(6, 32) }, hold: hold)
        }
        let hold = AnswerHold(seconds: PromptHold.secondsMax, message: message)
        return EnclaveKeyKind.allCases.map { WireSample("\($0)", key($0)) }
            + [
                KeyRequest.make(.mldsa87, control), .open(key(.p256)), .use(use(.sign, reason: "why")),
                .use(use(.decapsulate, reason: nil)), .close(1),
                .use(use(.sign, reason: nil, hold: hold)),
            ].enumerated().map { WireSample("\($0)", $1) }
            + [
                KeyReply.refused(refusal), .waitingForUser(place: "pts/3"), .queued, .made(key(.mlkem768)), .opened(1),
                .signed(octets(7, 64)), .shared, .closed,
            ].enumerated().map { WireSample("\($0)", $1) }
    }()

    private static let environment = OwnerEnvironment(
        passcodeIsSet: true, passcodeIsUsable: false, readerIsPresent: true, fingersAreEnrolled: true, fingersAreLockedOut: false,
        fingersAreUsable: true, domainState: octets(3, 32))

    private static let userRequests: [UserRequest] =
        [
            .status, .challenge(.set), .challenge(.unlock), .unlock(challenge, passcode), .unlockByFinger, .lock, .canEvaluate(.biometry),
            .canEvaluate(.biometryOrPasscode), .evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "a reason")),
            .evaluate(Evaluation(.policy(.biometry), reason: "a reason")), .evaluate(evaluation), .environment,
            .eraseWithoutPasscode(challenge), .unlockByPrompt(reason: "a reason"),
        ] + credentialRequests.map { .credential($0, challenge, authority: passcode) } + changes.map { .changeByPrompt($0) }

    private static let credentialRequests: [CredentialRequest] = [
        .setPasscode(recoveryKey: nil), .setPasscode(recoveryKey: passcode), .changePasscode(new: passcode, rolls: true),
        .changePasscode(new: passcode, rolls: false), .removePasscode, .erase, .recover(new: passcode, newRecoveryKey: nil),
        .recover(new: passcode, newRecoveryKey: passcode), .setRecoveryKey(nil), .setRecoveryKey(passcode), .configure(.standard),
        .enroll(unlocks: true), .enroll(unlocks: false), .forgetFingers, .listFingers, .confirmRecoveryKey,
    ]

    private static let userAnswers: [UserAnswer] = [
        .done, .status(status), .status(fullStatus), .challenge(challenge), .evaluated(EvaluationResult()),
        .evaluated(EvaluationResult(authorization: octets(1, 32), domainState: octets(2, 32))), .environment(.none),
        .environment(environment),
        .fingers([]), .fingers(["right-thumb", "left-thumb"]),
    ]

    static let user: [WireSample] =
        userRequests.enumerated().map { WireSample("\($0)", $1) } + userAnswers.enumerated().map { WireSample("\($0)", $1) }
        + credentialRequests.enumerated().map { WireSample("\($0)", $1) }
        + [WireSample("", EnclaveKeyCard(publicKey: octets(9, 32)))]

    /// The bindings of keychaind's rows.
    static let rows: [WireSample] = [row, plainRow, row.itemBinding].enumerated().map { WireSample("\($0)", $1) }

    static let authentication: [WireSample] =
        [AuthenticationReply.refused(refusal), .waitingForUser("pts/3"), .queued].enumerated().map { WireSample("\($0)", $1) }
        + userAnswers.enumerated().map { WireSample("answer \($0)", AuthenticationReply.answered($1, promptPlaces: ["here", "there"])) }
        + [
            AgentMessage.register(.everyCaller, place: "here"), .register(.otherDevice, place: "there"),
            .answer(prompt: octets(6, 16), challenge: octets(7, 32), .cancelled),
            .answer(prompt: octets(6, 16), challenge: octets(7, 32), .fallback),
            .answer(prompt: octets(6, 16), challenge: octets(7, 32), .credential(passcode, new: passcode)),
            .answer(prompt: octets(6, 16), challenge: octets(7, 32), .seen),
        ].enumerated().map { WireSample("\($0)", $1) }
        + [
            EnvironmentNotice.changed, .refused(refusal),
        ].enumerated().map { WireSample("\($0)", $1) }
        + [
            AgentNotice.registered, .refused(refusal), .ask(request), .resolved(prompt: octets(6, 16), .expired), .ask(sheetRequest),
            .update(prompt: octets(6, 16), update), .ask(changeRequest(changes[0])),
            .ask(changeRequest(.makeRecoveryKey, isMade: true)),
        ].enumerated().map { WireSample("\($0)", $1) }

    /// The messages between keychaind and the fetcher.
    static let sites: [WireSample] =
        (SiteListRequest(host: "example.com").map { [WireSample("", $0)] } ?? [])
        + [
            SiteListReply.list(applications: ["9JA89QQLNQ.com.example.app", "T.b"], ageSeconds: 60), .list(applications: [], ageSeconds: 0),
            .failed("it redirects; redirects are not followed"),
        ].enumerated().map { WireSample("\($0)", $1) }

    static let all = enclave + keychain + user + rows + authentication + sites
}

extension WireSample {
    /// The signed end of an access log. The signature of a sample is not verified.
    static let signedHead: SignedLogHead = {
        let head = LogHead(
            device: octets(1, LogHeadLimits.deviceBytes), user: 1000, number: 1 << 48, chain: octets(2, LogHeadLimits.chainBytes))
        let keys = [3, 4].map { NoteKey(name: head.origin, kind: .text, publicKey: octets($0, NoteKey.publicKeyBytes)) }
        let cosigner = NoteKey(name: head.origin, kind: .cosignature, publicKey: octets(6, NoteKey.publicKeyBytes))
        let note = SignedNote(text: head.text, signatures: [keys[0].signature(octets(5, 64))])
        return SignedLogHead(note: note.bytes, keys: keys.map { LogHeadKey(text: $0.text) }, cosigner: LogHeadKey(text: cosigner.text))
    }()
}
