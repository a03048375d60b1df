// The roles on authd's socket: callers, who send `UserRequest`, prompt agents, and watchers (Specs/authentication-wire.md).

/// The role that a client names in its greeting.
package enum AuthenticationRole: Int64, Sendable {
    case caller = 0
    case agent = 1
    case watcher = 2
}
