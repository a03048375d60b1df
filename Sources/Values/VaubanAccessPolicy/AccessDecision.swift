// The access decision: one pure function of the requirement, the evidence, the state of the device and the time. Only the enclave calls it.
// The keys enforce the same decision, since each factor has its own key.

package import VaubanRefusal

/// The evidence for one operation, each with its boot-time clock in nanoseconds. It is valid for that operation and for
/// `Evidence.lifetime`.
package struct Evidence: Hashable, Sendable {
    /// The validity of evidence, in nanoseconds: a prompt may require a second factor after the first.
    package static let lifetime: UInt64 = 300_000_000_000

    package var passcode: UInt64?
    package var finger: Finger?

    package struct Finger: Hashable, Sendable {
        package let at: UInt64
        /// The enrollment that it matched.
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

/// The state of the device, as far as it affects access decisions.
package struct DeviceConditions: Hashable, Sendable {
    package var lock: LockState
    package var passcodeIsSet: Bool
    /// Whether a delay after failed attempts is running: no passcode is accepted now.
    package var isLockedOut: Bool
    package var biometry: Biometry

    package struct Biometry: Hashable, Sendable {
        /// The limits for fingerprints: misses, and time since the last passcode in nanoseconds.
        package static let missesMax = 5
        package static let passcodeAge: UInt64 = 48 * 3600 * 1_000_000_000

        package var readerIsPresent: Bool
        /// The generation of the current enrollment; nil if no finger is enrolled.
        package var enrollment: [UInt8]?
        /// The boot-time clock of the passcode that armed fingerprints; nil if none did since the enclave started.
        package var armedAt: UInt64?
        /// Misses since then.
        package var misses: Int

        package init(readerIsPresent: Bool = false, enrollment: [UInt8]? = nil, armedAt: UInt64? = nil, misses: Int = 0) {
            self.readerIsPresent = readerIsPresent
            self.enrollment = enrollment
            self.armedAt = armedAt
            self.misses = misses
        }

        /// Returns whether fingerprints are disabled. A passcode enables them for 48 hours, or until five misses (C-138).
        package func isDisabled(now: UInt64) -> Bool {
            guard let armedAt, now >= armedAt else { return true }
            return misses >= Self.missesMax || now - armedAt > Self.passcodeAge
        }

        /// Returns why no fingerprint is accepted now; nil if one is.
        package func refusal(now: UInt64) -> Refusal.Reason? {
            guard enrollment != nil else { return readerIsPresent ? .biometryNotEnrolled : .biometryNotAvailable }
            if isDisabled(now: now) { return .biometryLockedOut }
            return readerIsPresent ? nil : .biometryNotAvailable
        }
    }

    package init(lock: LockState, passcodeIsSet: Bool, isLockedOut: Bool = false, biometry: Biometry = Biometry()) {
        self.lock = lock
        self.passcodeIsSet = passcodeIsSet
        self.isLockedOut = isLockedOut
        self.biometry = biometry
    }
}

/// The methods that a user can be prompted for.
package struct AuthenticationMethods: OptionSet, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static let passcode = AuthenticationMethods(rawValue: 1)
    package static let finger = AuthenticationMethods(rawValue: 2)
}

/// The decision about an operation.
package enum AccessDecision: Hashable, Sendable {
    case allow
    /// Prompt for these methods; each contributes to the requirement.
    case prompt(AuthenticationMethods)
    case refuse(Refusal.Reason)
}

extension Requirement {
    /// Decides whether an operation in this protection class may proceed now.
    package func decision(
        on evidence: Evidence, for protection: ProtectionClass, in conditions: DeviceConditions, now: UInt64
    ) -> AccessDecision {
        if let closed = protection.refusal(while: conditions.lock) { return .refuse(closed) }
        if isNone { return .allow }
        // Whatever the flags, without a passcode nothing proves the user's presence (C-079, C-082).
        guard conditions.passcodeIsSet else { return .refuse(.passcodeNotSet) }
        let presented = PresentedEvidence(evidence, conditions: conditions, now: now)
        var methods: AuthenticationMethods = []
        var refusals: [Refusal.Reason] = []
        for method in satisfiableMethods {
            switch presented.decision(on: method) {
            case .allow: return .allow
            case .prompt(let more): methods.formUnion(more)
            case .refuse(let reason): refusals.append(reason)
            }
        }
        if !methods.isEmpty { return .prompt(methods) }
        // A delay ends by itself, so report it rather than a method that is unavailable for longer.
        return .refuse(refusals.contains(.lockedOut) ? .lockedOut : refusals.first ?? .unsupported)
    }
}

extension ProtectionClass {
    /// Returns why the class is locked in a lock state; nil if its key is available.
    package func refusal(while lock: LockState) -> Refusal.Reason? {
        switch (lock, availability) {
        case (.unreadable, _): .stateUnreadable
        case (_, .always), (.unlocked, _), (.locked, .firstUnlock): nil
        case (.beforeFirstUnlock, _): .beforeFirstUnlock
        case (.locked, .unlocked): .locked
        }
    }
}

/// The evidence that is valid now.
private struct PresentedEvidence {
    let passcode: Bool
    let finger: Bool
    let conditions: DeviceConditions
    let now: UInt64

    init(_ evidence: Evidence, conditions: DeviceConditions, now: UInt64) {
        func isFresh(_ at: UInt64) -> Bool { at <= now && now - at <= Evidence.lifetime }
        passcode = evidence.passcode.map(isFresh) ?? false
        // While fingerprints are disabled, an earlier match does not count either: only the passcode does (C-139).
        let fingersCount = !conditions.biometry.isDisabled(now: now)
        finger = evidence.finger.map { fingersCount && isFresh($0.at) && $0.enrollment == conditions.biometry.enrollment } ?? false
        self.conditions = conditions
        self.now = now
    }

    /// Returns the decision on one method. It needs all its factors, so one that is unavailable rules it out.
    func decision(on method: [Factor]) -> AccessDecision {
        var methods: AuthenticationMethods = []
        for factor in method {
            switch decision(on: factor) {
            case .allow: continue
            case .prompt(let more): methods.formUnion(more)
            case .refuse(let reason): return .refuse(reason)
            }
        }
        return methods.isEmpty ? .allow : .prompt(methods)
    }

    private func decision(on factor: Factor) -> AccessDecision {
        switch factor {
        case .passcode: passcode ? .allow : passcodeDecision
        case .presence:
            if passcode || finger { .allow } else { presenceDecision }
        case .biometryAny, .biometryCurrentSet:
            if finger { .allow } else if let reason = conditions.biometry.refusal(now: now) { .refuse(reason) } else { .prompt(.finger) }
        case .companion: .refuse(.unsupported)
        }
    }

    private var passcodeDecision: AccessDecision { conditions.isLockedOut ? .refuse(.lockedOut) : .prompt(.passcode) }

    /// Prefers the fingerprint, with the passcode as the user's choice (C-081). While fingerprints are disabled, only the passcode remains
    /// (C-139).
    private var presenceDecision: AccessDecision {
        let finger: AuthenticationMethods = conditions.biometry.refusal(now: now) == nil ? .finger : []
        switch passcodeDecision {
        case .prompt(let methods): return .prompt(methods.union(finger))
        case let refusal: return finger.isEmpty ? refusal : .prompt(finger)
        }
    }
}
