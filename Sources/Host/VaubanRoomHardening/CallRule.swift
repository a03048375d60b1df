internal import CVaubanConfinement

/// The action for a system call. A call without a rule returns ENOSYS, as on a kernel that lacks it: libraries handle that, and newer
/// libraries try newer calls first.
package struct CallRule: Hashable, Sendable {
    package enum Verdict: String, Sendable {
        case allow
        /// Kills the process at once, whichever thread made the call.
        case kill
        /// Returns EPERM.
        case refuse
    }

    /// A condition on one argument, counted from 0.
    package enum Condition: Hashable, Sendable {
        case always
        case equal(UInt32, UInt64)
        case notEqual(UInt32, UInt64)
        /// The argument's bits under the mask equal the value.
        case masked(UInt32, mask: UInt64, value: UInt64)
    }

    package let call: String
    package let verdict: Verdict
    package let condition: Condition

    package init(_ call: String, _ verdict: Verdict, when condition: Condition = .always) {
        self.call = call
        self.verdict = verdict
        self.condition = condition
    }

    func shape(named name: UnsafePointer<CChar>?) -> vauban_call_rule {
        var shape = vauban_call_rule()
        shape.call = name
        shape.verdict =
            switch verdict {
            case .allow: VAUBAN_ALLOW
            case .kill: VAUBAN_KILL
            case .refuse: VAUBAN_REFUSE
            }
        switch condition {
        case .always: shape.comparison = VAUBAN_ANY
        case .equal(let argument, let value): (shape.comparison, shape.argument, shape.value) = (VAUBAN_EQUAL, argument, value)
        case .notEqual(let argument, let value): (shape.comparison, shape.argument, shape.value) = (VAUBAN_NOT_EQUAL, argument, value)
        case .masked(let argument, let mask, let value):
            (shape.comparison, shape.argument, shape.mask, shape.value) = (VAUBAN_MASKED, argument, mask, value)
        }
        return shape
    }
}
