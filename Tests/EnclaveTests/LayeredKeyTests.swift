import Enclave
import EnclaveBook
import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Item keys sealed to everything that an access control requires, and to nothing else.
@Suite struct LayeredKeyTests {
    private let bench = Workbench()

    /// What a user can present, and whether it satisfies an access control.
    struct PresentedEvidence: Sendable {
        let passcode: Bool, finger: Bool
    }

    static let controls: [(flags: AccessControlFlags, opens: @Sendable (PresentedEvidence) -> Bool)] = [
        (.userPresence, { $0.passcode || $0.finger }), (.devicePasscode, { $0.passcode }), (.biometryAny, { $0.finger }),
        (.biometryCurrentSet, { $0.finger }), ([.or, .biometryAny, .devicePasscode], { $0.passcode || $0.finger }),
        ([.or, .biometryCurrentSet, .devicePasscode], { $0.passcode || $0.finger }),
        ([.and, .biometryAny, .devicePasscode], { $0.passcode && $0.finger }),
        ([.and, .biometryCurrentSet, .devicePasscode], { $0.passcode && $0.finger }),
        ([.biometryAny, .devicePasscode], { $0.passcode && $0.finger }),
        ([.or, .companion, .devicePasscode], { $0.passcode }), ([.or, .companion, .biometryAny], { $0.finger }),
        (.applicationPassword, { _ in true }),
    ]

    /// Every access control, alone and with an application password, against everything that can be presented.
    @Test("An access control opens with the required factors alone", arguments: controls.indices, [false, true])
    func accessControlOpensWithTheRequiredFactors(_ index: Int, _ withPassword: Bool)
        throws
    {
        let (flags, opens) = Self.controls[index]
        let (vault, _) = try bench.startEnrolled()
        let needsPassword = withPassword || flags == .applicationPassword
        let all = needsPassword ? flags.union(.applicationPassword) : flags
        let sealed = try SealedRow(bench.row(.whenUnlocked, all), in: vault, password: needsPassword ? "right" : nil)
        let opening = try vault.opening(sealed)
        #expect(opening.needsPassword == needsPassword)
        for shown in [
            PresentedEvidence(passcode: false, finger: false), PresentedEvidence(passcode: true, finger: false),
            PresentedEvidence(passcode: false, finger: true),
            PresentedEvidence(passcode: true, finger: true),
        ] {
            let gathered = shown.passcode ? try vault.gather(Workbench.passcode) : OperationEvidence()
            if shown.finger { gathered.evidence.finger = try vault.acceptFingerMatch(fingers: Sample.fingers) }
            if !needsPassword {
                let key = try? vault.finishWith(nil, opening, evidence: gathered)
                #expect(key == (opens(shown) ? sealed.key : nil), "\(shown)")
                continue
            }
            #expect((try? vault.finishWith("right", opening, evidence: gathered)) == (opens(shown) ? sealed.key : nil), "\(shown)")
            #expect(refusal { _ = try vault.finishWith("wrong", opening, evidence: gathered) }?.reason == .authenticationFailed)
            #expect(refusal { _ = try vault.finishWith(nil, opening, evidence: gathered) }?.reason == .applicationPasswordMissing)
            #expect(refusal { _ = try vault.finishWith("", opening, evidence: gathered) }?.reason == .applicationPasswordMissing)
        }
        #expect(vault.status.attemptsLeft == 5)
    }

    /// The key would open the pair, but policy does not allow it, although the correct passcode was given.
    @Test("The passcode does not replace a fingerprint") func passcodeDoesNotReplaceAFingerprint() throws {
        let (vault, _) = try bench.startEnrolled()
        let sealed = try SealedRow(bench.row(.always, .biometryAny), in: vault)
        let shown = try vault.gather(Workbench.passcode)
        #expect(refusal { _ = try vault.finish(vault.opening(sealed), shown, password: nil) }?.reason == .authenticationFailed)
        // ByTheBookTests shows, with the files and the passcode, that it could.
    }

    @Test("A method that cannot be used is not prompted for") func unusableMethodIsNotPrompted() throws {
        let (vault, _) = try bench.startEnrolled()
        let either = try SealedRow(bench.row(.always, [.or, .biometryCurrentSet, .devicePasscode]), in: vault)
        let both = try SealedRow(bench.row(.always, [.and, .biometryCurrentSet, .devicePasscode]), in: vault)
        #expect(try vault.asks(for: either) == [.finger, .passcode])
        try vault.enroll(fingers: Sample.otherFingers, unlocks: false, passcodeKey: vault.authenticate(secret(Workbench.passcode)))
        #expect(try vault.asks(for: either) == .passcode)
        #expect(try vault.read(either, passcode: Workbench.passcode) == either.key)
        let finger = OperationEvidence()
        finger.evidence.finger = try vault.acceptFingerMatch(fingers: Sample.otherFingers)
        #expect(refusal { _ = try vault.finish(vault.opening(either), finger, password: nil) }?.reason == .authenticationFailed)
        #expect(refusal { _ = try vault.asks(for: both) }?.reason == .biometryNotEnrolled)
    }

    /// A method that could not be sealed is not added by a later enrollment.
    @Test("A method that was missing at the start stays unavailable") func methodMissingAtTheStartStaysUnavailable() throws {
        let (vault, _) = bench.startAtReader()
        try vault.setPasscode(secret(Workbench.passcode))
        let sealed = try SealedRow(bench.row(.always, [.or, .biometryCurrentSet, .devicePasscode]), in: vault)
        try vault.enroll(fingers: Sample.fingers, unlocks: false, passcodeKey: vault.authenticate(secret(Workbench.passcode)))
        #expect(try vault.asks(for: sealed) == .passcode)
    }

    // MARK: Application password

    @Test("An application password is needed, and its length is limited") func anApplicationPasswordIsNeededAndBounded() throws {
        let vault = bench.start()
        _ = try vault.lease()
        let row = try bench.row(.whenUnlocked, .applicationPassword)
        for missing in [nil, ""] as [String?] {
            #expect(refusal { _ = try vault.sealWith(missing, row) }?.reason == .applicationPasswordMissing)
        }
        let longest = String(repeating: "x", count: EnclaveLimits.applicationPasswordBytesMax)
        #expect(refusal { _ = try vault.sealWith(longest + "x", row) }?.reason == .badParameter)
        let sealed = try SealedRow(row, in: vault, password: longest)
        #expect(try vault.read(sealed, password: longest) == sealed.key)
        #expect(refusal { _ = try vault.read(sealed, password: longest + "x") }?.reason == .badParameter)
        #expect(refusal { _ = try vault.read(sealed) }?.reason == .applicationPasswordMissing)
    }

    /// Two items with the same password have different salts, so no table serves both; and it is not a passcode.
    @Test("Items with the same password have different salts") func saltsOfItemsDiffer() throws {
        let vault = try bench.startProtected()
        let row = try bench.row(.whenUnlocked, .applicationPassword)
        let first = try SealedRow(row, in: vault, password: Workbench.passcode),
            second = try SealedRow(row, in: vault, password: Workbench.passcode)
        #expect(first.wrapped != second.wrapped && first.key != second.key)
        bench.journal.clear()
        #expect(refusal { _ = try vault.read(first, password: "wrong one") }?.reason == .authenticationFailed)
        #expect(bench.journal.events.isEmpty && vault.status.attemptsLeft == 5)
    }

    @Test("A locked class closes an item with an application password too") func lockedClassClosesItemsWithAnApplicationPassword() throws {
        let vault = try bench.startProtected()
        let sealed = try SealedRow(bench.row(.whenUnlocked, .applicationPassword), in: vault, password: "right")
        let opening = try vault.opening(sealed)
        try vault.lock()
        #expect(refusal { _ = try vault.finishWith("right", opening, evidence: OperationEvidence()) }?.reason == .locked)
        #expect(refusal { _ = try vault.read(sealed, password: "right") }?.reason == .locked)
    }
}
