internal import VaubanUserModel

/// A kind of companion device: Apple's `LACompanionType`. Vauban supports none.
public enum LACompanionType: Int, Sendable {
    /// A watch.
    case watch = 1
    /// A Mac.
    case mac = 2
    /// A vision device.
    case vision = 4
}

/// The enrollment as an application may see it: Apple's `LADomainState`.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class LADomainState: NSObject, @unchecked Sendable {
    /// The state of biometry.
    public let biometry: LADomainStateBiometry
    /// The state of companion devices.
    public let companion: LADomainStateCompanion

    /// A hash of everything enrolled; nil if nothing is. A changed value means that the enrollment changed; it does not show how.
    public var stateHash: Data? { biometry.stateHash }

    init(biometry: LADomainStateBiometry) {
        self.biometry = biometry
        companion = LADomainStateCompanion()
    }

    /// Returns the current state from the service, without a prompt; an empty state if it cannot be reached.
    static func current() -> LADomainState {
        let facts = LAEnvironment.State.Facts.current() ?? .none
        return LADomainState(biometry: LADomainStateBiometry(facts.biometryType, facts.environment.domainState.map { Data($0) }))
    }
}

/// The enrolled fingerprints: Apple's `LADomainStateBiometry`.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class LADomainStateBiometry: NSObject, @unchecked Sendable {
    /// The machine's biometric sensor.
    public let biometryType: LABiometryType
    /// A hash of the enrollment: 32 bytes that differ between applications and change with every enrollment; nil if nothing is enrolled.
    public let stateHash: Data?

    init(_ type: LABiometryType, _ hash: Data?) {
        biometryType = type
        stateHash = hash
    }
}

/// The companion devices: Apple's `LADomainStateCompanion`. Always empty.
public final class LADomainStateCompanion: NSObject, Sendable {
    /// Always empty: Vauban supports no companion devices.
    public var availableCompanionTypes: Set<LACompanionType> { [] }
    /// Always nil.
    public var stateHash: Data? { nil }
    /// Always returns nil.
    public func stateHash(for companionType: LACompanionType) -> Data? { nil }
}

extension LABiometryType {
    /// The machine's sensor, whether or not it can be used now.
    static var here: LABiometryType { LAEnvironment.State.Facts.current()?.biometryType ?? .none }
}
