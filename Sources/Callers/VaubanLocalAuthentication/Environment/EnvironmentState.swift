public import Foundation
internal import VaubanAuthenticationClient
internal import VaubanLinuxHost
internal import VaubanUserModel

extension LAEnvironment {
    /// What the user could answer with at one moment: Apple's `LAEnvironment.State`. Two of equal facts are equal.
    ///
    /// `@unchecked Sendable`: every stored property is immutable.
    public final class State: NSObject, NSCopying, @unchecked Sendable {
        /// Nil where the machine has no reader and no finger is enrolled.
        public let biometry: MechanismBiometry?
        public let userPassword: MechanismUserPassword?
        /// Always empty: Vauban knows no companion devices.
        public var companions: [MechanismCompanion] { [] }
        /// All of the above.
        public var allMechanisms: [Mechanism] { [biometry, userPassword].compactMap { $0 } + companions }

        private let facts: Facts

        init(_ facts: Facts) {
            self.facts = facts
            biometry = facts.biometryType == .none ? nil : MechanismBiometry(facts)
            userPassword = MechanismUserPassword(facts)
        }

        public override func isEqual(_ object: Any?) -> Bool { (object as? State)?.facts == facts }
        public override var hash: Int { facts.hashValue }
        public func copy(with zone: NSZone? = nil) -> Any { self }
    }
}

extension LAEnvironment.State {
    /// The same without a class around it.
    struct Facts: Hashable, Sendable {
        var environment: OwnerEnvironment
        /// Whether a question of this process would appear anywhere.
        var canBeAsked: Bool

        static let none = Facts(environment: .none, canBeAsked: false)

        var biometryType: LABiometryType { environment.readerIsThere || environment.fingersAreEnrolled ? .touchID : .none }
        var fingersAreUsable: Bool { environment.fingersAreUsable && canBeAsked }
        var passcodeIsUsable: Bool { environment.passcodeIsUsable && canBeAsked }

        /// As the service says now; nobody is asked. Nil where it cannot be reached.
        static func current(startingService: Bool = true) -> Facts? {
            guard let service = try? Service.current(),
                let seen = try? AuthenticationClient(service: service, startsService: startingService).environment()
            else { return nil }
            return Facts(environment: seen.environment, canBeAsked: seen.canBeAsked || OwnTerminal.mayAsk(of: service))
        }
    }
}
