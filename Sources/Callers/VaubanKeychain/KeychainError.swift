public import Foundation
internal import Security

/// Why a call to the keychain did not succeed.
///
/// ```swift
/// do {
///     token = try await keychain.secret(for: name)
/// } catch let error as KeychainError where error.reason == .cancelled {
///     return  // The user said no.
/// }
/// ```
///
/// That there is no such item is no error when it is read or removed; the answer is nil or false then.
public struct KeychainError: Error, Hashable, Sendable {
    /// What a program can tell apart. More may come with a later version, so a `switch` needs a default.
    public enum Reason: Hashable, Sendable {
        /// There is no such item to change (`errSecItemNotFound`).
        case notFound
        /// There is such an item already (`errSecDuplicateItem`).
        case duplicate
        /// The keychain is locked, or the item asks for the user and nobody can be asked, or may be
        /// (`errSecInteractionNotAllowed`). The message says which, where the system does.
        case interactionNotAllowed
        /// The user said no (`errSecUserCanceled`).
        case cancelled
        /// The user was not recognized, or what the item asks for is not set up, or the application's password is not the
        /// item's (`errSecAuthFailed`).
        case authenticationFailed
        /// The program may not use the access group, or, on macOS, is not signed for the keychain
        /// (`errSecMissingEntitlement`).
        case missingEntitlement
        /// The keychain does not answer (`errSecNotAvailable`).
        case unavailable
        /// The secret is too large: encrypt the data outside, and keep its key here (`errSecDataTooLarge`).
        case tooLarge
        /// The call names what cannot be, such as an attribute that the item's kind does not have (`errSecParam`,
        /// `errSecNoSuchAttr`).
        case invalid
        /// Not supported on this system (`errSecUnimplemented`).
        case unsupported
        /// Anything else; ``KeychainError/status`` and ``KeychainError/message`` say what.
        case other
    }

    /// Apple's status, as `SecItem…` returned it.
    public let status: Int32

    /// A sentence for the user: what happened and, on Linux, what to do about it.
    public let message: String

    /// Makes an error, for stores of one's own and for tests.
    ///
    /// - Parameters:
    ///   - status: One of Apple's `errSec…`.
    ///   - message: Nil takes the system's sentence for the status.
    public init(status: Int32, message: String? = nil) {
        self.status = status
        self.message = message ?? SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "Status \(status)"
    }

    /// What the status means.
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

    /// Must be called on the thread of the call that answered the status: the sentence is that call's.
    static func check(_ status: Int32) throws(KeychainError) {
        guard status == errSecSuccess else { throw KeychainError(status: status) }
    }
}

extension KeychainError: LocalizedError, CustomStringConvertible {
    /// The sentence for the user.
    public var errorDescription: String? { message }

    /// The sentence and the status.
    public var description: String { "\(message) (\(status))" }
}
