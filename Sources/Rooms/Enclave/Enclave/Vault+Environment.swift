// The authentication methods that are available to the user now, and their changes (Specs/environment.md).

internal import VaubanAccessPolicy
internal import VaubanLinuxHost
package import VaubanUserModel

/// An environment in the form in which applications see it, with the enrollment itself instead of its value per application.
struct EnvironmentMark: Hashable, Sendable {
    let environment: OwnerEnvironment
    let enrollment: [UInt8]?
    /// The lock state is not part of the environment, but programs that wait for an unlock are notified of it.
    let lock: LockState
}

extension Vault {
    /// The state that every application may receive. The value for the enrolled fingers differs per application (`domainState`).
    package var ownerEnvironment: OwnerEnvironment {
        state.withLock { state in
            state.applyExpirations(host, isUse: false)
            return state.environment(host).environment
        }
    }

    /// Returns whether the environment changed since the last call.
    package func takeEnvironmentChange() -> Bool {
        state.withLock { state in
            state.applyExpirations(host, isUse: false)
            return state.takeEnvironmentChange(host)
        }
    }
}

extension VaultState {
    mutating func takeEnvironmentChange(_ host: EnclaveHost) -> Bool {
        let mark = environment(host)
        defer { environmentMark = mark }
        return mark != environmentMark
    }

    fileprivate func environment(_ host: EnclaveHost) -> EnvironmentMark {
        let now = host.clock.boot
        let conditions = conditions(host)
        let fingers = conditions.biometry
        let isReadable = conditions.lock != .unreadable
        let passcodeIsUsable = isReadable && conditions.passcodeIsSet
        return EnvironmentMark(
            environment: OwnerEnvironment(
                passcodeIsSet: conditions.passcodeIsSet, passcodeIsUsable: passcodeIsUsable, readerIsPresent: fingers.readerIsPresent,
                fingersAreEnrolled: fingers.enrollment != nil,
                fingersAreLockedOut: fingers.enrollment != nil && fingers.isDisabled(now: now),
                fingersAreUsable: passcodeIsUsable && fingers.refusal(now: now) == nil),
            enrollment: fingers.enrollment, lock: conditions.lock)
    }
}
