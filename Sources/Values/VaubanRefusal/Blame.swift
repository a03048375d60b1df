extension Refusal {
    /// Who must act before the request can succeed.
    package enum Blame: String, CaseIterable, Sendable {
        /// The program that sent the request: its message or its request is invalid.
        case caller
        /// The user: to unlock, to authenticate, to connect a reader or enroll a finger, or to wait.
        case user
        /// Another room, which did not reply or has changed in the meantime.
        case peer
        /// The disk, or stored data on it.
        case disk
        /// Vauban itself, or the computer it runs on.
        case machine
    }

    package var blame: Blame { reason.blame }
}

extension Refusal.Reason {
    package var blame: Refusal.Blame {
        switch self {
        case .malformed, .unknownRequest, .badParameter, .noSuchAttribute, .duplicateItem, .itemNotFound, .missingEntitlement, .unsupported,
            .dataTooLarge, .notAllowedHere, .noSuchClass, .interactionNotAllowed, .applicationPasswordMissing, .keyOfAnotherDevice,
            .keyDamaged, .keyDestroyed:
            .caller
        case .locked, .beforeFirstUnlock, .noPromptAgent, .passcodeNotSet, .authenticationFailed, .cancelled, .fallbackChosen, .lockedOut,
            .passcodeTooWeak, .passcodeAlreadySet, .userTimedOut, .biometryNotAvailable, .biometryNotEnrolled, .biometryLockedOut,
            .recoveryKeyNotSet:
            .user
        case .unavailable, .keysChanged: .peer
        case .storageFull, .storageFailed, .stateUnreadable, .rowDamaged, .keyUnknown: .disk
        case .internalError: .machine
        }
    }
}
