internal import VaubanKeychainClient
internal import VaubanRefusal

extension BusError {
    enum Kind: String {
        case isLocked = "org.freedesktop.Secret.Error.IsLocked"
        case noSession = "org.freedesktop.Secret.Error.NoSession"
        case noSuchObject = "org.freedesktop.Secret.Error.NoSuchObject"
        case accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
        case failed = "org.freedesktop.DBus.Error.Failed"
        case invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
        case limitsExceeded = "org.freedesktop.DBus.Error.LimitsExceeded"
        case notSupported = "org.freedesktop.DBus.Error.NotSupported"
        case propertyReadOnly = "org.freedesktop.DBus.Error.PropertyReadOnly"
        case unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
        case unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"
    }

    init(_ kind: Kind, _ text: String) { self.init(name: kind.rawValue, text: text) }

    static let noSuchObject = BusError(.noSuchObject, "No such object")

    /// Converts a refusal of the rooms to an error of the Secret Service. All conversions are in this table.
    init(_ refusal: Refusal) {
        let kind: Kind =
            switch refusal.reason {
            case .locked, .beforeFirstUnlock: .isLocked
            case .itemNotFound, .keyDestroyed, .keyUnknown, .rowDamaged: .noSuchObject
            case .dataTooLarge, .storageFull: .limitsExceeded
            case .cancelled, .fallbackChosen, .interactionNotAllowed, .noPromptAgent, .authenticationFailed, .lockedOut, .userTimedOut,
                .passcodeNotSet, .biometryNotAvailable, .biometryNotEnrolled, .biometryLockedOut, .applicationPasswordMissing,
                .missingEntitlement, .notAllowedHere:
                .accessDenied
            default: .failed
            }
        self.init(kind, refusal.message)
    }

    /// Converts an error of a call.
    init(of error: any Error) {
        switch error {
        case let failure as BusError: self = failure
        case let refusal as Refusal: self.init(refusal)
        default: self.init(.failed, "The call failed")
        }
    }

    /// Converts the refusal because of which a prompt to unlock the keychain could not be shown.
    init(notShown refusal: Refusal) {
        let sentence = "The keychain is locked, and nothing can show the prompt; run in a terminal: vauban unlock"
        self.init(.isLocked, refusal.reason == .noPromptAgent ? sentence : refusal.message)
    }

    fileprivate var isOfGoneItem: Bool { name == Kind.noSuchObject.rawValue }
}

/// Returns the result of `body`; nil if the item that it concerns no longer exists, since another client may delete it concurrently.
func unlessGone<Value>(_ body: () throws -> Value) throws -> Value? {
    do { return try body() } catch let refusal as Refusal where BusError(refusal).isOfGoneItem {
        return nil
    } catch let failure as BusError where failure.isOfGoneItem {
        return nil
    }
}
