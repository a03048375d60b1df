// What a control asks of the user for one operation (Specs/secitem.md, 8.2), as a formula over what a user can show.

/// What is done with an item or a key under a control; Apple's short names beside them.
package enum ItemOperation: CaseIterable, Hashable, Sendable {
    /// Reading an item's value (`od`), and writing one (`oe`).
    case decrypt, encrypt
    case delete
    /// Signing (`osgn`), computing a shared key (`ock`), decapsulating (`okd`), and vouching for a private key (`oa`).
    case sign, computeKey, decapsulate, attest
}

/// One thing that a key of the enclave stands for. Each has a pair of its own, to which item keys are sealed.
package enum Factor: CaseIterable, Hashable, Sendable {
    case passcode
    /// A finger or the passcode.
    case presence
    case biometryAny
    case biometryCurrentSet
    /// A device nearby. Nothing on Linux shows it, so a way that needs it is closed.
    case companion
}

/// The ways to satisfy a control, each a set of factors that are all needed: `or` makes several ways, `and` longer ones.
package struct Requirement: Hashable, Sendable {
    package let ways: [[Factor]]

    package init(ways: [[Factor]]) { self.ways = ways }

    /// Nothing beyond the accessibility class.
    package static let none = Requirement(ways: [[]])

    package var isNone: Bool { ways.contains([]) }

    /// Whether a finger brings any of its ways nearer.
    package var takesFinger: Bool {
        openWays.contains { way in way.contains { [.presence, .biometryAny, .biometryCurrentSet].contains($0) } }
    }

    /// Whether the passcode brings any of its ways nearer.
    package var takesPasscode: Bool { openWays.contains { way in way.contains { [.presence, .passcode].contains($0) } } }

    /// The ways that can ever be gone here; a control with none of them is refused when an item is made.
    package var openWays: [[Factor]] { ways.filter { !$0.contains(.companion) } }
}

extension AccessControl {
    /// What an operation requires; nil when the control forbids it. A control for private keys has no word for reading
    /// an item, so it cannot protect one (C-087).
    package func requirement(for operation: ItemOperation) -> Requirement? {
        if constraints.isEmpty && !flags.contains(.privateKeyUsage) { return Requirement.none }
        switch (operation, flags.contains(.privateKeyUsage)) {
        case (.delete, _), (.encrypt, false), (.attest, true): return Requirement.none
        case (.decrypt, false), (.sign, true), (.computeKey, true), (.decapsulate, true): return constraint
        default: return nil
        }
    }

    /// What reading the value requires; the ways of an item that cannot be read are none.
    package var requirementToDecrypt: Requirement { requirement(for: .decrypt) ?? Requirement(ways: []) }

    package var needsApplicationPassword: Bool { flags.contains(.applicationPassword) }

    private var constraint: Requirement {
        if constraints.isEmpty { return Requirement.none }
        return Requirement(ways: flags.contains(.or) ? constraints.map { [$0] } : [constraints])
    }

    /// The factors that the flags name, in the order in which a user is offered them.
    private var constraints: [Factor] {
        let named: [(AccessControlFlags, Factor)] = [
            (.userPresence, .presence), (.biometryAny, .biometryAny), (.biometryCurrentSet, .biometryCurrentSet), (.companion, .companion),
            (.devicePasscode, .passcode),
        ]
        return named.filter { flags.contains($0.0) }.map(\.1)
    }
}
