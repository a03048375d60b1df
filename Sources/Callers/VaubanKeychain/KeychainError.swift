public import Foundation
internal import Security

/// The error of a keychain call.
///
/// ```swift
/// do {
///     token = try await keychain.secret(for: name)
/// } catch let error as KeychainError where error.reason == .cancelled {
///     return  // The user cancelled the prompt.
/// }
/// ```
///
/// Reading or removing an item that does not exist is not an error: the result is nil or false.
public struct KeychainError: Error, Hashable, Sendable {
    /// The causes that a program can distinguish. Later versions may add some, so a `switch` needs a default.
    public enum Reason: Hashable, Sendable {
        /// There is no such item to update (`errSecItemNotFound`).
        case notFound
        /// The item already exists (`errSecDuplicateItem`).
        case duplicate
        /// The keychain is locked, or the item requires the user and the call may not prompt or nothing can show a prompt
        /// (`errSecInteractionNotAllowed`). The message states which, if the system reports it.
        case interactionNotAllowed
        /// The user cancelled the prompt (`errSecUserCanceled`).
        case cancelled
        /// The user was not recognized, the required passcode or biometry is not set up, or the application password is wrong
        /// (`errSecAuthFailed`).
        case authenticationFailed
        /// The program may not use the access group, or, on macOS, is not signed for the keychain
        /// (`errSecMissingEntitlement`).
        case missingEntitlement
        /// The keychain does not respond (`errSecNotAvailable`).
        case unavailable
        /// The secret is too large: encrypt the data yourself, and store its key here (`errSecDataTooLarge`).
        case tooLarge
        /// A parameter is invalid, such as an attribute that the item's class does not have (`errSecParam`, `errSecNoSuchAttr`).
        case invalid
        /// Not supported on this system (`errSecUnimplemented`).
        case unsupported
        /// Any other error; see ``KeychainError/status`` and ``KeychainError/message``.
        case other
    }

    /// Apple's status, as returned by `SecItem…`.
    public let status: Int32

    /// A sentence for the user: what happened and, on Linux, what to do about it.
    public let message: String

    /// Creates an error, for your own stores and for tests.
    ///
    /// - Parameters:
    ///   - status: One of Apple's `errSec…`.
    ///   - message: Nil uses the system's message for the status.
    public init(status: Int32, message: String? = nil) {
        self.status = status
        self.message = message ?? SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "Status \(status)"
    }

    /// The cause, derived from the status.
    public var reason: Reason {
        switch status {
        case errSecItemNotFound: .notFound
        case errSecDuplicateItem: .duplicate
        case errSecInteractionNotAllowed: .interactionNotAllowed
        case errSecUserCanceled: .cancelled
        case errSecAuthFailed: .authenticationFailed
        case errSecMissingEntitlement: .missingEntitlement
        case errSecNotAvailable: .unavailable
        case errSecDataTooLarge: .tooLarge
        case errSecParam, errSecNoSuchAttr, errSecNoSuchClass: .invalid
        case errSecUnimplemented: .unsupported
        default: .other
        }
    }

    /// Throws unless the status is success. Call it on the thread of the call that returned the status: the message belongs to that call.
    static func check(_ status: Int32) throws(KeychainError) {
        guard status == errSecSuccess else { throw KeychainError(status: status) }
    }
}

extension KeychainError: LocalizedError, CustomStringConvertible {
    /// The message for the user.
    public var errorDescription: String? { message }

    /// The message and the status.
    public var description: String { "\(message) (\(status))" }
}
