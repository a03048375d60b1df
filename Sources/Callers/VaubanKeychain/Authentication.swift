// How a call may authenticate the user, and the LAContext that passes this on to the keychain.

internal import Foundation
internal import Security

#if canImport(LocalAuthentication) && !os(tvOS)
internal import LocalAuthentication
#endif

/// An application password of 1 to 1024 bytes, for items whose access control requires one. It can come from a server or an accessory;
/// without it, nothing can decrypt the item.
public final class ApplicationPassword: Sendable {
    let bytes: Secret

    /// Takes over the password, which is overwritten when the last reference to this object ends.
    public init(_ password: consuming Secret) { bytes = password }
}

/// How a call may authenticate the user for items that require it.
public struct Authentication: Sendable {
    /// Whether the call may prompt the user.
    public enum Interaction: Hashable, Sendable {
        /// The call may prompt the user, and then waits for the answer.
        case allowed
        /// The call may not prompt; where it would have to, it fails with ``KeychainError/Reason/interactionNotAllowed``.
        case forbidden
        /// The call may not prompt, and a search omits items that require the user. In calls other than searches, the same as `forbidden`.
        case skipping
    }

    /// Whether the call may prompt the user.
    public var interaction: Interaction
    /// Why the program wants the item, shown under the program's name, such as "show the recovery codes".
    public var reason: String?
    /// The application password, for items that require one.
    public var applicationPassword: ApplicationPassword?

    /// Creates an authentication.
    public init(_ interaction: Interaction = .allowed, reason: String? = nil, applicationPassword: ApplicationPassword? = nil) {
        self.interaction = interaction
        self.reason = reason
        self.applicationPassword = applicationPassword
    }

    /// The call may prompt the user.
    public static var allowed: Self { Self() }
    /// The call may prompt the user, with this reason.
    public static func because(_ reason: String) -> Self { Self(reason: reason) }
    /// The call never prompts.
    public static var never: Self { Self(.forbidden) }
    /// The call never prompts, and a search omits items that require the user.
    public static var skipping: Self { Self(.skipping) }
    /// The call opens items that require this application password.
    public static func with(_ password: ApplicationPassword) -> Self { Self(applicationPassword: password) }
}

/// The context of one call. It belongs to that call alone; other threads only invalidate it.
///
/// `@unchecked Sendable`: every stored property is immutable, and an `LAContext` can be invalidated from any thread.
final class CallContext: @unchecked Sendable {
    private let authentication: Authentication

    #if canImport(LocalAuthentication) && !os(tvOS)
    private let context = LAContext()

    init(_ authentication: Authentication) {
        self.authentication = authentication
        if let reason = authentication.reason { context.localizedReason = reason }
        context.interactionNotAllowed = authentication.interaction != .allowed
    }

    /// Returns the entries for the query. Call it on the thread of the call, since it may wait for a service.
    func entries(isSearch: Bool = false) throws(KeychainError) -> [String: Any] {
        if isSearch, authentication.interaction == .skipping {
            return [kSecUseAuthenticationUI as String: kSecUseAuthenticationUISkip]
        }
        if let password = authentication.applicationPassword {
            guard context.setCredential(password.bytes.disclosed(), type: .applicationPassword) else {
                throw KeychainError(status: errSecParam, message: "An application password has 1 to 1024 bytes")
            }
        }
        return [kSecUseAuthenticationContext as String: context]
    }

    /// Invalidates the context, which withdraws a prompt.
    func end() { context.invalidate() }
    #else
    // tvOS has no prompts: no LocalAuthentication and no items that require the user.
    init(_ authentication: Authentication) { self.authentication = authentication }

    func entries(isSearch: Bool = false) throws(KeychainError) -> [String: Any] {
        guard authentication.applicationPassword == nil else { throw KeychainError(status: errSecUnimplemented) }
        return [:]
    }

    func end() {}
    #endif
}
