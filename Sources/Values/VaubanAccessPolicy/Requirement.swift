// The requirement of an access control for one operation, as a formula over factors.

/// An operation with an item or a key under an access control; with Apple's short names.
package enum ItemOperation: CaseIterable, Hashable, Sendable {
    /// Reading an item's value (`od`) and writing one (`oe`).
    case decrypt, encrypt
    case delete
    /// Signing (`osgn`), computing a shared key (`ock`), decapsulating (`okd`), and attesting a private key (`oa`).
    case sign, computeKey, decapsulate, attest
}

/// One factor that the enclave can verify. Each has its own pair, to which item keys are sealed.
package enum Factor: CaseIterable, Hashable, Sendable {
    case passcode
    /// A fingerprint or the passcode.
    case presence
    case biometryAny
    case biometryCurrentSet
    /// A nearby device. Linux has none, so a method that needs it can never be satisfied.
    case companion
}

/// The authentication methods that satisfy an access control, each a set of factors that are all needed: `or` adds methods, `and` factors.
package struct Requirement: Hashable, Sendable {
    package let methods: [[Factor]]

    package init(methods: [[Factor]]) { self.methods = methods }

    /// Requires nothing beyond the protection class.
    package static let none = Requirement(methods: [[]])

    package var isNone: Bool { methods.contains([]) }

    /// Whether a fingerprint contributes to any method.
    package var acceptsFinger: Bool {
        satisfiableMethods.contains { method in method.contains { [.presence, .biometryAny, .biometryCurrentSet].contains($0) } }
    }

    /// Whether the passcode contributes to any method.
    package var acceptsPasscode: Bool { satisfiableMethods.contains { method in method.contains { [.presence, .passcode].contains($0) } } }

    /// The methods that can be satisfied on this platform. An item whose access control has none cannot be added.
    package var satisfiableMethods: [[Factor]] { methods.filter { !$0.contains(.companion) } }
}

extension AccessControl {
    /// Returns what an operation requires; nil if the access control forbids it. An access control for private keys does not define
    /// reading, so it cannot protect an item (C-087).
    package func requirement(for operation: ItemOperation) -> Requirement? {
        if constraints.isEmpty && !flags.contains(.privateKeyUsage) { return Requirement.none }
        switch (operation, flags.contains(.privateKeyUsage)) {
        case (.delete, _), (.encrypt, false), (.attest, true): return Requirement.none
        case (.decrypt, false), (.sign, true), (.computeKey, true), (.decapsulate, true): return constraint
        default: return nil
        }
    }

    /// What reading the value requires. It has no methods if the item cannot be read.
    package var requirementToDecrypt: Requirement { requirement(for: .decrypt) ?? Requirement(methods: []) }

    package var needsApplicationPassword: Bool { flags.contains(.applicationPassword) }

    private var constraint: Requirement {
        if constraints.isEmpty { return Requirement.none }
        return Requirement(methods: flags.contains(.or) ? constraints.map { [$0] } : [constraints])
    }

    /// The factors of the flags, in the order in which they are offered to the user.
    private var constraints: [Factor] {
        let named: [(AccessControlFlags, Factor)] = [
            (.userPresence, .presence), (.biometryAny, .biometryAny), (.biometryCurrentSet, .biometryCurrentSet), (.companion, .companion),
            (.devicePasscode, .passcode),
        ]
        return named.filter { flags.contains($0.0) }.map(\.1)
    }
}
