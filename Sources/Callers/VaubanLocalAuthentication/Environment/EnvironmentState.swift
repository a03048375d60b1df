public import Foundation
internal import VaubanAuthenticationClient
internal import VaubanLinuxHost
internal import VaubanUserModel

extension LAEnvironment {
    /// The authentication mechanisms at one moment: Apple's `LAEnvironment.State`. States with equal facts are equal.
    ///
    /// `@unchecked Sendable`: every stored property is immutable.
    public final class State: NSObject, NSCopying, @unchecked Sendable {
        /// Biometry; nil if the machine has no reader and no fingerprint is enrolled.
        public let biometry: MechanismBiometry?
        /// The passcode; nil if the service cannot be reached.
        public let userPassword: MechanismUserPassword?
        /// Always empty: Vauban supports no companion devices.
        public var companions: [MechanismCompanion] { [] }
        /// All mechanisms of this state.
        public var allMechanisms: [Mechanism] { [biometry, userPassword].compactMap { $0 } + companions }

        private let facts: Facts

        init(_ facts: Facts) {
            self.facts = facts
            biometry = facts.biometryType == .none ? nil : MechanismBiometry(facts)
            userPassword = MechanismUserPassword(facts)
        }

        /// Returns whether the other object is a state with equal facts.
        public override func isEqual(_ object: Any?) -> Bool { (object as? State)?.facts == facts }
        /// A hash of the state's facts.
        public override var hash: Int { facts.hashValue }
        /// Returns the same object, which is immutable.
        public func copy(with zone: NSZone? = nil) -> Any { self }
    }
}

extension LAEnvironment.State {
    /// The contents of a state as a value.
    struct Facts: Hashable, Sendable {
        var environment: OwnerEnvironment
        /// Whether a prompt of this process would appear anywhere.
        var canBePrompted: Bool

        static let none = Facts(environment: .none, canBePrompted: false)

        var biometryType: LABiometryType { environment.readerIsPresent || environment.fingersAreEnrolled ? .touchID : .none }
        var fingersAreUsable: Bool { environment.fingersAreUsable && canBePrompted }
        var passcodeIsUsable: Bool { environment.passcodeIsUsable && canBePrompted }

        /// Returns the current facts from the service, without a prompt; nil if it cannot be reached.
        static func current(startingService: Bool = true) -> Facts? {
            guard let service = try? Service.current(),
                let lastRead = try? AuthenticationClient(service: service, startsService: startingService).environment()
            else { return nil }
            return Facts(environment: lastRead.environment, canBePrompted: lastRead.canBePrompted || OwnTerminal.canPrompt(for: service))
        }
    }
}
