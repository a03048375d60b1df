// What the user could answer with now, and whether that is another than before (Specs/environment.md).

internal import VaubanAccessPolicy
internal import VaubanLinuxHost
package import VaubanUserModel

/// What whoever looks is shown, the enrollment itself in the place of what stands for it.
struct EnvironmentMark: Hashable, Sendable {
    let environment: OwnerEnvironment
    let enrollment: [UInt8]?
}

extension Vault {
    /// The state that every application may know; what stands for the enrolled fingers is each one's own (`domainState`).
    package var ownerEnvironment: OwnerEnvironment {
        state.withLock { state in
            state.settle(host, isUse: false)
            return state.environment(host).environment
        }
    }

    /// Whether it is another than at the last call.
    package func takeEnvironmentChange() -> Bool {
        state.withLock { state in
            state.settle(host, isUse: false)
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
        let circumstances = circumstances(host)
        let fingers = circumstances.biometry
        let isReadable = circumstances.lock != .unreadable
        let passcodeIsUsable = isReadable && circumstances.passcodeIsSet
        return EnvironmentMark(
            environment: OwnerEnvironment(
                passcodeIsSet: circumstances.passcodeIsSet, passcodeIsUsable: passcodeIsUsable, readerIsThere: fingers.readerIsThere,
                fingersAreEnrolled: fingers.enrollment != nil,
                fingersAreLockedOut: fingers.enrollment != nil && fingers.isDisabled(now: now),
                fingersAreUsable: passcodeIsUsable && fingers.refusal(now: now) == nil),
            enrollment: fingers.enrollment)
    }
}
