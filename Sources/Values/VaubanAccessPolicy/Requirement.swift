// Judgement is a pure function: what a control asks of the person for one operation.

/// What the person must do before an operation.
package enum Requirement: Hashable, Sendable {
    /// Nothing beyond the accessibility class.
    case none
    /// A finger or the passcode (`userPresence`).
    case presence
    /// The passcode (`devicePasscode`).
    case passcode
    /// Something that this version cannot give; the item is refused when it is made, not when it is read.
    case unsupported
}

extension AccessControl {
    /// What decrypting an item under this control requires. Adding and deleting require nothing (secitem 8.2).
    package var requirementToDecrypt: Requirement {
        let constraints = flags.subtracting([.or, .and])
        if constraints.isEmpty { return .none }
        if constraints == .userPresence { return .presence }
        if constraints == .devicePasscode { return .passcode }
        return .unsupported
    }
}
