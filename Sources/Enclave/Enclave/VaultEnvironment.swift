// What the person could answer with now, and whether that is another than before (Specs/environment.md).

internal import Synchronization
package import VaubanAccessPolicy

/// What whoever looks is shown, the enrolment itself in the place of what stands for it.
struct EnvironmentMark: Hashable, Sendable {
    let environment: OwnerEnvironment
    let enrolment: [UInt8]?
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
            let mark = state.environment(host)
            defer { state.environmentMark = mark }
            return mark != state.environmentMark
        }
    }
}

extension VaultState {
    fileprivate func environment(_ host: EnclaveHost) -> EnvironmentMark {
        let now = host.clock.boot
        let circumstances = circumstances(host)
        let fingers = circumstances.biometry
        let isReadable = circumstances.lock != .unreadable
        let passcodeIsUsable = isReadable && circumstances.passcodeIsSet
        return EnvironmentMark(
            environment: OwnerEnvironment(
                passcodeIsSet: circumstances.passcodeIsSet, passcodeIsUsable: passcodeIsUsable, readerIsThere: fingers.readerIsThere,
                fingersAreEnrolled: fingers.enrolment != nil, fingersAreLockedOut: fingers.enrolment != nil && fingers.isDisabled(now: now),
                fingersAreUsable: passcodeIsUsable && fingers.refusal(now: now) == nil),
            enrolment: fingers.enrolment)
    }
}
