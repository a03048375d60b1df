import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanRefusal

/// The whole policy function: every valid access control, every operation, every state of a device, all evidence. The decision depends on
/// an access control only through its requirement for an operation, so each requirement is tested once, and its cases are multiplied by the
/// number of controls and operations that have it.
@Suite struct AccessDecisionTests {
    struct Enumerated {
        let requirement: Requirement
        let terms: Set<Set<Thing>>
        /// The number of access controls and operations, of any one class, with this requirement.
        var count: Int
    }

    private static let enrollment: [UInt8] = [1, 2, 3]

    private static func evidence(_ showing: Showing) -> Evidence {
        let finger = showing.finger.at.map { Evidence.Finger(at: $0, enrollment: showing.isOfThisEnrollment ? enrollment : [9]) }
        return Evidence(passcode: showing.passcode.at, finger: finger)
    }

    private static func conditions(_ now: Situation) -> DeviceConditions {
        let biometry = DeviceConditions.Biometry(
            readerIsPresent: now.reader, enrollment: now.enrolled ? enrollment : nil, armedAt: now.arming.at, misses: now.misses)
        return DeviceConditions(lock: now.lock, passcodeIsSet: now.passcodeIsSet, isLockedOut: now.isDelayed, biometry: biometry)
    }

    static let situations: [Situation] = {
        var all: [Situation] = []
        for lock in LockState.allCases {
            for bits in 0..<16 {
                for arming in Arming.allCases {
                    for misses in [0, 4, 5] {
                        all.append(
                            Situation(
                                lock: lock, passcodeIsSet: bits & 1 != 0, isDelayed: bits & 2 != 0, reader: bits & 4 != 0,
                                enrolled: bits & 8 != 0,
                                arming: arming, misses: misses))
                    }
                }
            }
        }
        return all
    }()

    /// No evidence comes first.
    static let showings: [Showing] = PresentedEvidence.allCases.flatMap { passcode in
        PresentedEvidence.allCases.flatMap { finger in
            (finger == .never ? [true] : [true, false]).map { Showing(passcode: passcode, finger: finger, isOfThisEnrollment: $0) }
        }
    }

    /// Returns the requirement of every valid set of flags for every operation, compared with the tables.
    private static func requirements() -> (made: [Requirement: Enumerated], forbidden: Int, mismatches: [String]) {
        var made: [Requirement: Enumerated] = [:]
        var forbidden = 0
        var mismatches: [String] = []
        for flags in AccessControlTests.combinations {
            guard let control = try? AccessControl(protection: .whenUnlocked, flags: flags) else { continue }
            for operation in ItemOperation.allCases {
                let found = control.requirement(for: operation)
                let terms = AccessDecisionOracle.terms(flags.rawValue, operation)
                if (found == nil) != (terms == nil) { mismatches.append("\(flags.rawValue) \(operation)") }
                guard let found, let terms else { forbidden += 1; continue }
                if made[found, default: Enumerated(requirement: found, terms: terms, count: 0)].terms != terms {
                    mismatches.append("\(flags.rawValue) \(operation)")
                }
                made[found, default: Enumerated(requirement: found, terms: terms, count: 0)].count += 1
            }
        }
        return (made, forbidden, mismatches)
    }

    @Test("A requirement depends on flags and operation alone") func aRequirementDependsOnFlagsAndOperationAlone() throws {
        let (made, forbidden, mismatches) = Self.requirements()
        #expect(mismatches.isEmpty)
        #expect(made.values.reduce(forbidden) { $0 + $1.count } == 148 * ItemOperation.allCases.count)
        print(
            """
            policy function: \(made.count) requirements of 148 flag sets and \(ItemOperation.allCases.count) operations, \(forbidden) \
            pairs forbidden
            """
        )
        for protection in ProtectionClass.allCases {
            for flags in AccessControlTests.combinations {
                guard let control = try? AccessControl(protection: protection, flags: flags) else { continue }
                let sample = try AccessControl(protection: .whenUnlocked, flags: flags)
                for operation in ItemOperation.allCases {
                    #expect(control.requirement(for: operation) == sample.requirement(for: operation))
                }
                #expect(control.requirementToDecrypt == control.requirement(for: .decrypt) ?? Requirement(methods: []))
                #expect(control.needsApplicationPassword == (flags.rawValue & 1 << 31 != 0))
            }
        }
    }

    @Test("Every access decision matches the oracle", arguments: ProtectionClass.allCases) func accessDecisionsMatchTheOracle(
        _ protection: ProtectionClass
    ) throws {
        let requirements = Self.requirements().made.values
        let showings = Self.showings.map { ($0, Self.evidence($0)) }
        var count = 0
        var cases = 0
        var wrong: [String] = []
        for now in Self.situations {
            let conditions = Self.conditions(now)
            let whyNoFinger = AccessDecisionOracle.whyNoFinger(now)
            #expect(conditions.biometry.refusal(now: Arming.now) == whyNoFinger)
            for entry in requirements {
                var found: [AccessDecision] = []
                found.reserveCapacity(showings.count)
                for (showing, evidence) in showings {
                    let decision = entry.requirement.decision(on: evidence, for: protection, in: conditions, now: Arming.now)
                    found.append(decision)
                    let expected = AccessDecisionOracle.decide(
                        entry.terms, showing: showing, protection: protection, now: now, whyNoFinger: whyNoFinger)
                    if decision != expected && wrong.count < 10 {
                        wrong.append("\(entry.requirement.methods) \(now) \(showing): \(decision), expected \(expected)")
                    }
                }
                if let broken = Self.brokenLaw(in: found, entry: entry, protection: protection, now: now), wrong.count < 10 {
                    wrong.append("\(broken): \(entry) \(now)")
                }
                count += found.count
                cases += found.count * entry.count
            }
        }
        #expect(wrong.isEmpty, "\(wrong)")
        print("policy function, class \(protection.rawValue): \(cases) cases, \(count) of them different to the function")
        #expect(count == Self.situations.count * requirements.count * 45 && cases > 10_000_000)
    }

    // MARK: Rules independent of the tables

    /// The possible refusals of a decision.
    private static let documented: Set<Refusal.Reason> = [
        .stateUnreadable, .beforeFirstUnlock, .locked, .passcodeNotSet, .lockedOut, .biometryNotAvailable, .biometryNotEnrolled,
        .biometryLockedOut, .unsupported,
    ]

    private static func brokenLaw(in found: [AccessDecision], entry: Enumerated, protection: ProtectionClass, now: Situation) -> String? {
        let nothing = found[0]
        let isClosed = AccessDecisionOracle.closed[now.lock]?[protection.rawValue] != nil
        for (decision, showing) in zip(found, showings) {
            if isClosed && decision != nothing { return "evidence changes a closed class" }
            if case .allow = nothing, decision != .allow { return "evidence takes something away" }
            if case .refuse(let reason) = decision, !documented.contains(reason) { return "an undocumented refusal" }
            if case .prompt(let methods) = decision, methods.isEmpty { return "a prompt without methods" }
            let counts = showing.passcode.counts || showing.finger.counts && showing.isOfThisEnrollment
            if !counts && decision != nothing { return "stale evidence, or another's, counts" }
            // With one part left out there is less evidence, which must not open what more evidence does not.
            let isAllowed = decision == .allow
            if !isAllowed
                && (less(found, showing, withoutPasscode: true) == .allow || less(found, showing, withoutPasscode: false) == .allow)
            {
                return "more evidence opens less"
            }
        }
        if nothing == .allow && !entry.terms.contains([]) { return "opens without evidence" }
        if isClosed && nothing == .allow { return "opens a closed class" }
        return nil
    }

    private static let places = Dictionary(uniqueKeysWithValues: showings.enumerated().map { ($1, $0) })

    private static func less(_ found: [AccessDecision], _ showing: Showing, withoutPasscode: Bool) -> AccessDecision? {
        let less =
            withoutPasscode
            ? Showing(passcode: .never, finger: showing.finger, isOfThisEnrollment: showing.isOfThisEnrollment)
            : Showing(passcode: showing.passcode, finger: .never, isOfThisEnrollment: true)
        return places[less].map { found[$0] }
    }
}
