// A use of an item, by a program on one connection.

package import VaubanKeychainWire

/// A program that uses the keychain on one connection.
package final class AccessCaller: Sendable {
    /// Nil where programs are not distinguished.
    let program: AccessProgram?
    /// The executables of the processes above it, as a log record has them.
    let parents: [String]

    package init(_ program: AccessProgram?, parents: [String] = []) {
        self.program = program
        self.parents = parents
    }
}

/// A use of an item.
package struct AccessUse: Sendable {
    let caller: AccessCaller
    let action: AccessAction
    let outcome: AccessOutcome
    var item: UsedItem
    /// Microseconds since the reference date.
    let date: Int64

    package init(caller: AccessCaller, action: AccessAction, outcome: AccessOutcome, item: UsedItem, date: Int64) {
        self.caller = caller
        self.action = action
        self.outcome = outcome
        self.item = item
        self.date = date
    }

    /// Whether the user is told of it: a program read, changed or deleted a canary, or tried to.
    var isAlert: Bool { item.isCanary && [.read, .changed, .deleted].contains(action) }
}

/// What the uses in one log record have in common.
struct UseGroup: Hashable, Sendable {
    let program: AccessProgram?
    let action: AccessAction
    let outcome: AccessOutcome
}

extension AccessUse {
    var group: UseGroup { UseGroup(program: caller.program, action: action, outcome: outcome) }
}
