public import Foundation
internal import VaubanUserModel

extension LAEnvironment {
    /// One way to show who is there: Apple's `LAEnvironment.Mechanism`.
    ///
    /// `@unchecked Sendable`: every stored property, those of the classes below too, is immutable.
    public class Mechanism: NSObject, @unchecked Sendable {
        /// Whether an evaluation that needs it could succeed now.
        public let isUsable: Bool
        /// For the user.
        public let localizedName: String
        /// The name of an icon of the desktop's theme (freedesktop.org, *Icon Naming*).
        public let iconSystemName: String

        init(isUsable: Bool, localizedName: String, iconSystemName: String) {
            self.isUsable = isUsable
            self.localizedName = localizedName
            self.iconSystemName = iconSystemName
        }
    }

    /// The user's fingers: Apple's `LAEnvironment.MechanismBiometry`.
    public final class MechanismBiometry: Mechanism, @unchecked Sendable {
        /// What the machine has, whether or not it can be used now.
        public let biometryType: LABiometryType
        public let isEnrolled: Bool
        /// Enrolled, and worth nothing before the passcode is entered.
        public let isLockedOut: Bool
        /// As `LAContext.domainState.biometry.stateHash`: differs between applications and after every enrollment; nil where none is.
        public let stateHash: Data?
        /// Always false: whether a reader is built in, and behind a closed lid, is not known.
        public var builtInSensorInaccessible: Bool { false }

        init(_ facts: State.Facts) {
            biometryType = facts.biometryType
            isEnrolled = facts.environment.fingersAreEnrolled
            isLockedOut = facts.environment.fingersAreLockedOut
            stateHash = facts.environment.domainState.map { Data($0) }
            super.init(isUsable: facts.fingersAreUsable, localizedName: "Fingerprint", iconSystemName: "auth-fingerprint-symbolic")
        }
    }

    /// The user's passcode: Apple's `LAEnvironment.MechanismUserPassword`.
    public final class MechanismUserPassword: Mechanism, @unchecked Sendable {
        /// To show, and not to decide by: an item that needs a passcode says so by its access control.
        public let isSet: Bool

        init(_ facts: State.Facts) {
            isSet = facts.environment.passcodeIsSet
            super.init(isUsable: facts.passcodeIsUsable, localizedName: "Passcode", iconSystemName: "dialog-password-symbolic")
        }
    }

    /// A companion device, of which there are none: Apple's `LAEnvironment.MechanismCompanion`.
    public final class MechanismCompanion: Mechanism, @unchecked Sendable {
        public let type: LACompanionType
        public let stateHash: Data?

        private init(_ type: LACompanionType) {
            self.type = type
            stateHash = nil
            super.init(isUsable: false, localizedName: "", iconSystemName: "")
        }
    }
}
