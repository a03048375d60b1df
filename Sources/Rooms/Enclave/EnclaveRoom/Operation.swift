import VaubanAccessPolicy
import VaubanUserModel

/// An operation that the user is prompted for.
struct Operation {
    let kind: PromptOperation
    let requirement: Requirement
    let protection: ProtectionClass
    let reason: String?
    /// The identity of the item to open, for the trace of tests.
    var item: [UInt8] = []
    /// The consent to request from the user; nil for any other operation.
    var consent: Consent?
    /// The caller's button titles.
    var titles = PromptTitles.standard
    /// What the passcode allows in addition, for a time; nil for nothing.
    var hold: PromptHold?
    /// The change that the passcode authorizes; nil for any other operation.
    var change: CredentialChange?
    /// How to make that change with the new secret in the answer; nil if there is none.
    var secretChange: SecretChange?
    /// The trial of an entered application password; nil unless the prompt requests one.
    var trial: PasswordTrial?
}
