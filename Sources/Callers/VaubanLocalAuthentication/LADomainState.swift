internal import VaubanUserModel

/// A kind of companion device: Apple's `LACompanionType`. Vauban knows none.
public enum LACompanionType: Int, Sendable {
    case watch = 1
    case mac = 2
    case vision = 4
}

/// What is enrolled here, as far as an application may know: Apple's `LADomainState`.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class LADomainState: NSObject, @unchecked Sendable {
    public let biometry: LADomainStateBiometry
    public let companion: LADomainStateCompanion

    /// Nil where nothing is enrolled. Compared with a kept one it says that something has changed, and not what.
    public var stateHash: Data? { biometry.stateHash }

    init(biometry: LADomainStateBiometry) {
        self.biometry = biometry
        companion = LADomainStateCompanion()
    }

    /// As the service says it now; nobody is asked. Where it cannot be reached nothing is there.
    static func current() -> LADomainState {
        let facts = LAEnvironment.State.Facts.current() ?? .none
        return LADomainState(biometry: LADomainStateBiometry(facts.biometryType, facts.environment.domainState.map { Data($0) }))
    }
}

/// The enrolled fingers: Apple's `LADomainStateBiometry`.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class LADomainStateBiometry: NSObject, @unchecked Sendable {
    public let biometryType: LABiometryType
    /// Differs between applications, and after every enrollment.
    public let stateHash: Data?

    init(_ type: LABiometryType, _ hash: Data?) {
        biometryType = type
        stateHash = hash
    }
}

/// The companion devices, of which there are none: Apple's `LADomainStateCompanion`.
public final class LADomainStateCompanion: NSObject, Sendable {
    public var availableCompanionTypes: Set<LACompanionType> { [] }
    public var stateHash: Data? { nil }
    public func stateHash(for companionType: LACompanionType) -> Data? { nil }
}

extension LABiometryType {
    /// The sensor of this machine, whether or not it can be used now.
    static var here: LABiometryType { LAEnvironment.State.Facts.current()?.biometryType ?? .none }
}
