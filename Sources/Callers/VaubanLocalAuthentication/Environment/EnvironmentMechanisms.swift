public import Foundation
internal import VaubanUserModel

extension LAEnvironment {
    /// A method of authentication: Apple's `LAEnvironment.Mechanism`.
    ///
    /// `@unchecked Sendable`: every stored property is immutable, in the subclasses below too.
    public class Mechanism: NSObject, @unchecked Sendable {
        /// Whether an evaluation with this mechanism could succeed now.
        public let isUsable: Bool
        /// The name to show to the user.
        public let localizedName: String
        /// The name of an icon in the desktop's theme (freedesktop.org, *Icon Naming*).
        public let iconSystemName: String

        init(isUsable: Bool, localizedName: String, iconSystemName: String) {
            self.isUsable = isUsable
            self.localizedName = localizedName
            self.iconSystemName = iconSystemName
        }
    }

    /// Biometry, which on Linux is fingerprints: Apple's `LAEnvironment.MechanismBiometry`.
    public final class MechanismBiometry: Mechanism, @unchecked Sendable {
        /// The machine's sensor, whether or not it can be used now.
        public let biometryType: LABiometryType
        /// Whether the user has enrolled a fingerprint.
        public let isEnrolled: Bool
        /// Whether fingerprints do not count until the passcode is entered.
        public let isLockedOut: Bool
        /// A hash of the enrollment, as in `LAContext.domainState.biometry.stateHash`: 32 bytes that differ between applications and change
        /// with every enrollment; nil if nothing is enrolled.
        public let stateHash: Data?
        /// Always false: Vauban cannot tell whether a reader is built in and behind a closed lid.
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
        /// Whether a passcode is set. For display only: items that need a passcode require it with their access control.
        public let isSet: Bool

        init(_ facts: State.Facts) {
            isSet = facts.environment.passcodeIsSet
            super.init(isUsable: facts.passcodeIsUsable, localizedName: "Passcode", iconSystemName: "dialog-password-symbolic")
        }
    }

    /// A companion device: Apple's `LAEnvironment.MechanismCompanion`. Vauban never creates one.
    public final class MechanismCompanion: Mechanism, @unchecked Sendable {
        /// The kind of companion device.
        public let type: LACompanionType
        /// A hash of the paired devices of this kind.
        public let stateHash: Data?

        private init(_ type: LACompanionType) {
            self.type = type
            stateHash = nil
            super.init(isUsable: false, localizedName: "", iconSystemName: "")
        }
    }
}
