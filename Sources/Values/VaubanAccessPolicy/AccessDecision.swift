package import VaubanRefusal

// Judgment is one pure function of the requirement, what was shown, the state of the device and the time. The enclave
// alone calls it; the keys then say the same, since each factor is a key of its own.

/// What a user has shown for one operation, with the boot-time clock of each, in nanoseconds. It is good for that
/// operation and `Evidence.lifetime`.
package struct Evidence: Hashable, Sendable {
    /// How long something shown counts: a prompt may ask for a second thing after the first.
    package static let lifetime: UInt64 = 300_000_000_000

    package var passcode: UInt64?
    package var finger: Finger?

    package struct Finger: Hashable, Sendable {
        package let at: UInt64
        /// The enrollment under which it matched.
        package let enrollment: [UInt8]

        package init(at: UInt64, enrollment: [UInt8]) {
            self.at = at
            self.enrollment = enrollment
        }
    }

    package init(passcode: UInt64? = nil, finger: Finger? = nil) {
        self.passcode = passcode
        self.finger = finger
    }
}

/// What of the device counts for a judgment.
package struct DeviceConditions: Hashable, Sendable {
    package var lock: LockState
    package var passcodeIsSet: Bool
    /// Tries are being delayed: no passcode is taken now.
    package var isLockedOut: Bool
    package var biometry: Biometry

    package struct Biometry: Hashable, Sendable {
        /// What the enclave allows before it disables fingers, and for how long after the last passcode.
        package static let missesMax = 5
        package static let passcodeAge: UInt64 = 48 * 3600 * 1_000_000_000

        package var readerIsThere: Bool
        /// The name of the present enrollment; nil when no finger is enrolled.
        package var enrollment: [UInt8]?
        /// The boot-time clock at the passcode that armed fingers; nil when none did since the enclave began.
        package var armedAt: UInt64?
        /// Fingers that did not match since then.
        package var misses: Int

        package init(readerIsThere: Bool = false, enrollment: [UInt8]? = nil, armedAt: UInt64? = nil, misses: Int = 0) {
            self.readerIsThere = readerIsThere
            self.enrollment = enrollment
            self.armedAt = armedAt
            self.misses = misses
        }

        /// Fingers count only after a passcode armed them, for 48 hours, and until five did not match (C-138).
        package func isDisabled(now: UInt64) -> Bool {
            guard let armedAt, now >= armedAt else { return true }
            return misses >= Self.missesMax || now - armedAt > Self.passcodeAge
        }

        /// Why no finger can be taken now; nil when one can.
        package func refusal(now: UInt64) -> Refusal.Reason? {
            guard enrollment != nil else { return readerIsThere ? .biometryNotEnrolled : .biometryNotAvailable }
            if isDisabled(now: now) { return .biometryLockedOut }
            return readerIsThere ? nil : .biometryNotAvailable
        }
    }

    package init(lock: LockState, passcodeIsSet: Bool, isLockedOut: Bool = false, biometry: Biometry = Biometry()) {
        self.lock = lock
        self.passcodeIsSet = passcodeIsSet
        self.isLockedOut = isLockedOut
        self.biometry = biometry
    }
}

/// What a user can be asked to show.
package struct AuthenticationMethods: OptionSet, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static let passcode = AuthenticationMethods(rawValue: 1)
    package static let finger = AuthenticationMethods(rawValue: 2)
}

package enum AccessDecision: Hashable, Sendable {
    case allow
    /// Any of these brings the operation nearer.
    case ask(AuthenticationMethods)
    case refuse(Refusal.Reason)
}

extension Requirement {
    /// Whether an item of this class may be used now.
    package func judge(_ evidence: Evidence, for protection: Protection, in circumstances: DeviceConditions, now: UInt64) -> AccessDecision
    {
        if let closed = protection.closed(at: circumstances.lock) { return .refuse(closed) }
        if isNone { return .allow }
        // Whatever the flags say, without a passcode nothing shows who is there (C-079, C-082).
        guard circumstances.passcodeIsSet else { return .refuse(.passcodeNotSet) }
        let shown = PresentedEvidence(evidence, circumstances, now)
        var asked: AuthenticationMethods = []
        var refusals: [Refusal.Reason] = []
        for way in openWays {
            switch shown.judge(way) {
            case .allow: return .allow
            case .ask(let ways): asked.formUnion(ways)
            case .refuse(let reason): refusals.append(reason)
            }
        }
        if !asked.isEmpty { return .ask(asked) }
        // A delay passes by itself, so it is the better news where another way is closed for longer.
        return .refuse(refusals.contains(.lockedOut) ? .lockedOut : refusals.first ?? .unsupported)
    }
}

extension Protection {
    /// Why the class is closed in a state; nil when it is open.
    package func closed(at lock: LockState) -> Refusal.Reason? {
        switch (lock, availability) {
        case (.unreadable, _): .stateUnreadable
        case (_, .always), (.unlocked, _), (.locked, .firstUnlock): nil
        case (.beforeFirstUnlock, _): .beforeFirstUnlock
        case (.locked, .unlocked): .locked
        }
    }
}

/// What counts of the evidence, now.
private struct PresentedEvidence {
    let passcode: Bool
    let finger: Bool
    let circumstances: DeviceConditions
    let now: UInt64

    init(_ evidence: Evidence, _ circumstances: DeviceConditions, _ now: UInt64) {
        func isFresh(_ at: UInt64) -> Bool { at <= now && now - at <= Evidence.lifetime }
        passcode = evidence.passcode.map(isFresh) ?? false
        // While fingers are disabled, one that matched before does not count either: the passcode is the only way (C-139).
        let fingersCount = !circumstances.biometry.isDisabled(now: now)
        finger = evidence.finger.map { fingersCount && isFresh($0.at) && $0.enrollment == circumstances.biometry.enrollment } ?? false
        self.circumstances = circumstances
        self.now = now
    }

    /// All factors of one way: the first that cannot be shown closes it.
    func judge(_ way: [Factor]) -> AccessDecision {
        var asked: AuthenticationMethods = []
        for factor in way {
            switch judge(factor) {
            case .allow: continue
            case .ask(let ways): asked.formUnion(ways)
            case .refuse(let reason): return .refuse(reason)
            }
        }
        return asked.isEmpty ? .allow : .ask(asked)
    }

    private func judge(_ factor: Factor) -> AccessDecision {
        switch factor {
        case .passcode: passcode ? .allow : askPasscode
        case .presence:
            if passcode || finger { .allow } else { askPresence }
        case .biometryAny, .biometryCurrentSet:
            if finger { .allow } else if let reason = circumstances.biometry.refusal(now: now) { .refuse(reason) } else { .ask(.finger) }
        case .companion: .refuse(.unsupported)
        }
    }

    private var askPasscode: AccessDecision { circumstances.isLockedOut ? .refuse(.lockedOut) : .ask(.passcode) }

    /// The finger is preferred, the passcode the user's choice (C-081); while fingers are disabled the passcode is the
    /// only way (C-139).
    private var askPresence: AccessDecision {
        let finger: AuthenticationMethods = circumstances.biometry.refusal(now: now) == nil ? .finger : []
        switch askPasscode {
        case .ask(let ways): return .ask(ways.union(finger))
        case let refusal: return finger.isEmpty ? refusal : .ask(finger)
        }
    }
}
