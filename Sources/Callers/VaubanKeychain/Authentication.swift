// What a call may do to get at an item, and the LAContext that says so to the keychain.

internal import Foundation
internal import Security

#if canImport(LocalAuthentication) && !os(tvOS)
internal import LocalAuthentication
#endif

/// A password of the application's own, for items whose access control needs one: 1 to 1024 bytes. It can be the answer of
/// a server, or a key on an accessory; without it the item does not open, whoever asks.
public final class ApplicationPassword: Sendable {
    let bytes: Secret

    /// Takes over the password, which is overwritten with the last that holds this object.
    public init(_ password: consuming Secret) { bytes = password }
}

/// What a call may do to get at an item that asks for the user.
public struct Authentication: Sendable {
    /// Whether the user may be asked.
    public enum Interaction: Hashable, Sendable {
        /// They may; each call can ask anew, and waits for the answer.
        case allowed
        /// They may not; where they would have to be, the call ends with ``KeychainError/Reason/interactionNotAllowed``.
        case forbidden
        /// They may not, and a search leaves out what asks for them. For a call that is no search this is `forbidden`.
        case skipping
    }

    /// Whether the user may be asked.
    public var interaction: Interaction
    /// Why the program wants the item, shown to the user under the program's name: "show the recovery codes".
    public var reason: String?
    /// For items that need it.
    public var applicationPassword: ApplicationPassword?

    /// What a call may do.
    public init(_ interaction: Interaction = .allowed, reason: String? = nil, applicationPassword: ApplicationPassword? = nil) {
        self.interaction = interaction
        self.reason = reason
        self.applicationPassword = applicationPassword
    }

    /// The user may be asked.
    public static var allowed: Self { Self() }
    /// The user may be asked, and is told why.
    public static func because(_ reason: String) -> Self { Self(reason: reason) }
    /// Nobody is asked.
    public static var never: Self { Self(.forbidden) }
    /// Nobody is asked, and a search leaves out what asks for the user.
    public static var skipping: Self { Self(.skipping) }
    /// Opens items that need the application's own password.
    public static func with(_ password: ApplicationPassword) -> Self { Self(applicationPassword: password) }
}

/// One call's context. It belongs to that call alone; another thread does nothing with it but end it.
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

    /// What goes into the query. On the thread of the call, since it may wait for a service.
    func entries(isSearch: Bool = false) throws(KeychainError) -> [String: Any] {
        if isSearch, authentication.interaction == .skipping {
            return [kSecUseAuthenticationUI as String: kSecUseAuthenticationUISkip]
        }
        if let password = authentication.applicationPassword {
            guard context.setCredential(password.bytes.disclosed(), type: .applicationPassword) else {
                throw KeychainError(status: errSecParam, message: "An application's password has 1 to 1024 bytes")
            }
        }
        return [kSecUseAuthenticationContext as String: context]
    }

    /// Ends what the context still does: a question to the user disappears.
    func end() { context.invalidate() }
    #else
    // A television asks nobody: it has no LocalAuthentication, and no items that ask.
    init(_ authentication: Authentication) { self.authentication = authentication }

    func entries(isSearch: Bool = false) throws(KeychainError) -> [String: Any] {
        guard authentication.applicationPassword == nil else { throw KeychainError(status: errSecUnimplemented) }
        return [:]
    }

    func end() {}
    #endif
}
