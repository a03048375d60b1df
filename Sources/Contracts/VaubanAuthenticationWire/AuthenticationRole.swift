// The door of authd for callers, whose requests are `UserRequest`, and for prompt agents (Specs/authentication-wire.md).

/// The role that a client names in its greeting.
package enum AuthenticationRole: Int64, Sendable {
    case caller = 0
    case agent = 1
    case watcher = 2
}
