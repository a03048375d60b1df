import VaubanAccessPolicy
import VaubanRefusal

// A second implementation of the rules in Specs/secitem.md (8.1, 8.2 and 10), as tables: what opens a class, what satisfies a flag, when a
// fingerprint counts, when a passcode counts. It uses only the types of the function under test.

/// What a user can present. One of several satisfies a flag, and a term of them satisfies an access control.
enum Thing: CaseIterable { case passcode, finger, companion }

enum Arming: CaseIterable {
    case never, justNow, at48Hours, after48Hours, inTheFuture

    /// The present time of every case, by the boot clock: eleven days, so that every earlier moment exists.
    static let now: UInt64 = 1_000_000_000_000_000
    private static let hour: UInt64 = 3_600_000_000_000

    var at: UInt64? {
        switch self {
        case .never: nil
        case .justNow: Self.now
        case .at48Hours: Self.now - 48 * Self.hour
        case .after48Hours: Self.now - 48 * Self.hour - 1
        case .inTheFuture: Self.now + 1
        }
    }
}

/// When evidence was presented; it counts for five minutes.
enum PresentedEvidence: CaseIterable {
    case never, justNow, at5Minutes, after5Minutes, inTheFuture

    var at: UInt64? {
        switch self {
        case .never: nil
        case .justNow: Arming.now
        case .at5Minutes: Arming.now - 300_000_000_000
        case .after5Minutes: Arming.now - 300_000_000_001
        case .inTheFuture: Arming.now + 1
        }
    }

    var counts: Bool { self == .justNow || self == .at5Minutes }
}

/// One state of a device, by everything that distinguishes states.
struct Situation: Hashable {
    let lock: LockState
    let passcodeIsSet: Bool
    let isDelayed: Bool
    let reader: Bool
    let enrolled: Bool
    let arming: Arming
    let misses: Int
}

/// The presented evidence: when, and whether the fingerprint is of the present enrollment.
struct Showing: Hashable {
    let passcode: PresentedEvidence
    let finger: PresentedEvidence
    let isOfThisEnrollment: Bool
}

enum AccessDecisionOracle {
    // MARK: The class (Specs/secitem.md, 9)

    static let closed: [LockState: [String: Refusal.Reason]] = [
        .beforeFirstUnlock: [
            "ak": .beforeFirstUnlock, "aku": .beforeFirstUnlock, "akpu": .beforeFirstUnlock, "ck": .beforeFirstUnlock,
            "cku": .beforeFirstUnlock,
        ],
        .locked: ["ak": .locked, "aku": .locked, "akpu": .locked],
        .unlocked: [:],
        .unreadable: [
            "ak": .stateUnreadable, "ck": .stateUnreadable, "dk": .stateUnreadable, "aku": .stateUnreadable, "cku": .stateUnreadable,
            "dku": .stateUnreadable, "akpu": .stateUnreadable,
        ],
    ]

    // MARK: The flags (Specs/secitem.md, 8.1)

    /// Each constraint by its bit, with the evidence of which one kind satisfies it.
    static let constraints: [(bit: UInt64, satisfiedBy: [Thing])] = [
        (1 << 0, [.finger, .passcode]), (1 << 1, [.finger]), (1 << 3, [.finger]), (1 << 4, [.passcode]), (1 << 5, [.companion]),
    ]

    /// Returns the sets of evidence of which one set suffices; nil if the operation is forbidden (Specs/secitem.md, 8.2).
    static func terms(_ flags: UInt64, _ operation: ItemOperation) -> Set<Set<Thing>>? {
        let named = constraints.filter { flags & $0.bit != 0 }.map(\.satisfiedBy)
        let isForKeys = flags & 1 << 30 != 0
        let column: Column = named.isEmpty ? (isForKeys ? .keysOnly : .nothing) : (isForKeys ? .constrainedKeys : .constrained)
        switch operations[operation]?[column] {
        case .free: return [[]]
        case .asks: return flags & 1 << 14 != 0 ? oneOf(named) : allOf(named)
        case .forbidden, nil: return nil
        }
    }

    enum Column { case nothing, constrained, constrainedKeys, keysOnly }
    enum Cell { case free, asks, forbidden }

    static let operations: [ItemOperation: [Column: Cell]] = [
        .decrypt: [.nothing: .free, .constrained: .asks, .constrainedKeys: .forbidden, .keysOnly: .forbidden],
        .encrypt: [.nothing: .free, .constrained: .free, .constrainedKeys: .forbidden, .keysOnly: .forbidden],
        .delete: [.nothing: .free, .constrained: .free, .constrainedKeys: .free, .keysOnly: .free],
        .sign: [.nothing: .free, .constrained: .forbidden, .constrainedKeys: .asks, .keysOnly: .free],
        .computeKey: [.nothing: .free, .constrained: .forbidden, .constrainedKeys: .asks, .keysOnly: .free],
        .decapsulate: [.nothing: .free, .constrained: .forbidden, .constrainedKeys: .asks, .keysOnly: .free],
        .attest: [.nothing: .free, .constrained: .forbidden, .constrainedKeys: .free, .keysOnly: .free],
    ]

    private static func oneOf(_ named: [[Thing]]) -> Set<Set<Thing>> { Set(named.flatMap { $0.map { [$0] } }) }

    private static func allOf(_ named: [[Thing]]) -> Set<Set<Thing>> {
        named.reduce([[]]) { terms, things in Set(terms.flatMap { term in things.map { term.union([$0]) } }) }
    }

    // MARK: Fingers (Specs/secitem.md, 10, C-137 … C-140)

    /// Why no fingerprint is accepted; the first matching row decides, and nil in a row matches everything.
    static let fingers: [(reader: Bool?, enrolled: Bool?, arming: [Arming]?, misses: [Int]?, why: Refusal.Reason?)] = [
        (true, false, nil, nil, .biometryNotEnrolled),
        (false, false, nil, nil, .biometryNotAvailable),
        (nil, true, [.never, .after48Hours, .inTheFuture], nil, .biometryLockedOut),
        (nil, true, nil, [5], .biometryLockedOut),
        (false, true, [.justNow, .at48Hours], [0, 4], .biometryNotAvailable),
        (true, true, [.justNow, .at48Hours], [0, 4], nil),
    ]

    static func whyNoFinger(_ now: Situation) -> Refusal.Reason? {
        fingers.first { row in
            (row.reader ?? now.reader) == now.reader && (row.enrolled ?? now.enrolled) == now.enrolled
                && (row.arming?.contains(now.arming) ?? true) && (row.misses?.contains(now.misses) ?? true)
        }?.why
    }

    // MARK: The decision

    /// Decides a case. `whyNoFinger` is passed in because it is the same for many combinations of evidence.
    static func decide(
        _ terms: Set<Set<Thing>>, showing: Showing, protection: ProtectionClass, now: Situation, whyNoFinger: Refusal.Reason?
    ) -> AccessDecision {
        if let reason = closed[now.lock]?[protection.rawValue] { return .refuse(reason) }
        if terms.contains([]) { return .allow }
        if !now.passcodeIsSet { return .refuse(.passcodeNotSet) }
        var shown: Set<Thing> = []
        if showing.passcode.counts { shown.insert(.passcode) }
        // A fingerprint that matched in time counts while fingerprints do, even if its reader has been disconnected since.
        if showing.finger.counts && showing.isOfThisEnrollment
            && (whyNoFinger == nil || whyNoFinger == .biometryNotAvailable && now.enrolled)
        {
            shown.insert(.finger)
        }
        if terms.contains(where: { $0.isSubset(of: shown) }) { return .allow }

        var never: Set<Thing> = [.companion]
        if now.isDelayed { never.insert(.passcode) }
        if whyNoFinger != nil { never.insert(.finger) }
        let missing = terms.map { $0.subtracting(shown) }
        let within = missing.filter { $0.isDisjoint(with: never) }
        if !within.isEmpty {
            let things = within.reduce(into: Set<Thing>()) { $0.formUnion($1) }
            var methods: AuthenticationMethods = []
            if things.contains(.passcode) { methods.insert(.passcode) }
            if things.contains(.finger) { methods.insert(.finger) }
            return .prompt(methods)
        }
        // A delay ends by itself, so it is reported if it is the only obstacle of a method.
        let obstacles = missing.map { $0.intersection(never) }
        if obstacles.contains([.passcode]) { return .refuse(.lockedOut) }
        if obstacles.contains(where: { $0.contains(.finger) && !$0.contains(.companion) }), let whyNoFinger { return .refuse(whyNoFinger) }
        return .refuse(.unsupported)
    }
}
