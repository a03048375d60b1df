import Enclave
import VaubanAccessPolicy
import VaubanRefusal

// Items in the model: a class key, the methods to open it, and the evidence that releases it.

/// A class with an access control: every class, and every kind of requirement alone or with another.
enum Kind: Int, CaseIterable {
    case whenUnlocked, presence, always, passcodeClass, currentFingers, presenceAndPassword, fingerOrPasscode, fingerAndPasscode

    var protection: ProtectionClass {
        switch self {
        case .whenUnlocked, .fingerAndPasscode: .whenUnlocked
        case .presence: .afterFirstUnlock
        case .always: .always
        case .passcodeClass: .whenPasscodeSetThisDeviceOnly
        case .currentFingers: .whenUnlockedThisDeviceOnly
        case .presenceAndPassword: .alwaysThisDeviceOnly
        case .fingerOrPasscode: .afterFirstUnlockThisDeviceOnly
        }
    }

    var flags: AccessControlFlags? {
        switch self {
        case .whenUnlocked, .always, .passcodeClass: nil
        case .presence: .userPresence
        case .currentFingers: .biometryCurrentSet
        case .presenceAndPassword: [.userPresence, .applicationPassword]
        case .fingerOrPasscode: [.biometryAny, .or, .devicePasscode]
        case .fingerAndPasscode: [.biometryCurrentSet, .and, .devicePasscode]
        }
    }

    var needsPassword: Bool { self == .presenceAndPassword }

    /// The methods, each as the pairs that it needs.
    var methods: [[KeyPurpose]] {
        switch self {
        case .whenUnlocked, .always, .passcodeClass: []
        case .presence, .presenceAndPassword: [[.presenceFactor]]
        case .currentFingers: [[.enrollmentFactor]]
        case .fingerOrPasscode: [[.biometryFactor], [.passcodeFactor]]
        case .fingerAndPasscode: [[.enrollmentFactor, .passcodeFactor]]
        }
    }
}

struct Item: Hashable {
    let kind: Kind
    /// The class key that wraps it; the only part that a newer class key changes.
    var classKey: Name
    var methods: [[Name]]
}

/// The evidence that a user presents for one operation.
struct PresentedEvidence: Hashable {
    var passcode = false
    var finger = false
}

extension EnclaveModel {
    func isOpen(_ purpose: KeyPurpose) -> Bool {
        switch (purpose.availability, lock) {
        case (nil, _), (_, .unreadable): false
        case (.always, _), (_, .unlocked), (.firstUnlock, .locked): true
        default: false
        }
    }

    private var closed: Refused { Refused(lock == .beforeFirstUnlock ? .beforeFirstUnlock : .locked) }

    /// The keys in memory, as they are leased or used.
    var openKeys: [Name] { bag?.slots.filter { isOpen($0.purpose) } ?? [] }

    mutating func lease(_ tape: inout Tape) throws {
        try applyExpirations(&tape)
        _ = try created(&tape)
    }

    func add(_ kind: Kind) throws -> Item {
        try throwIfUnreadable()
        let purpose = KeyPurpose.protection(kind.protection)
        guard let bag, let classKey = bag.current(purpose) else { throw Refused(.passcodeNotSet) }
        guard isOpen(purpose) else { throw closed }
        let methods = kind.methods.map { $0.compactMap { bag.current($0) } }
        let whole = zip(kind.methods, methods).filter { $0.count == $1.count }.map(\.1)
        guard kind.methods.isEmpty || !whole.isEmpty else { throw Refused(.biometryNotEnrolled) }
        return Item(kind: kind, classKey: classKey, methods: whole)
    }

    /// Returns if the key is released; throws otherwise.
    func read(_ item: Item, _ shown: PresentedEvidence) throws {
        try throwIfUnreadable()
        guard let bag, bag.slots.contains(item.classKey) else {
            throw Refused(bag?.destroyed.contains(item.classKey) == true ? .keyDestroyed : .keyUnknown)
        }
        guard isOpen(item.classKey.purpose) else { throw closed }
        if item.methods.isEmpty { return }
        let alive = item.methods.filter { $0.allSatisfy(bag.slots.contains) }
        guard !alive.isEmpty else { throw Refused(.biometryNotEnrolled) }
        guard bag.passcode != nil else { throw Refused(.passcodeNotSet) }
        let answers = item.kind.methods.map { judge($0, shown) }
        if answers.contains(.allowed) {
            let allowed = alive.contains { $0.allSatisfy { judge($0.purpose, shown) == .allowed } }
            guard allowed else { throw Refused(.biometryNotEnrolled) }
            return
        }
        if answers.contains(.asked) { throw Refused(.interactionNotAllowed) }
        for answer in answers { if case .refused(let reason) = answer { throw Refused(reason) } }
    }

    private enum Answer: Hashable {
        case allowed, asked
        case refused(Refusal.Reason)
    }

    private func judge(_ way: [KeyPurpose], _ shown: PresentedEvidence) -> Answer {
        let answers = way.map { judge($0, shown) }
        if let refused = answers.first(where: { $0 != .allowed && $0 != .asked }) { return refused }
        return answers.contains(.asked) ? .asked : .allowed
    }

    private func judge(_ factor: KeyPurpose, _ shown: PresentedEvidence) -> Answer {
        let finger: Answer = if shown.finger { .allowed } else if let reason = fingerRefusal { .refused(reason) } else { .asked }
        let passcode: Answer = if shown.passcode { .allowed } else if wait > 0 { .refused(.lockedOut) } else { .asked }
        switch factor {
        case .passcodeFactor: return passcode
        case .presenceFactor:
            if shown.passcode || shown.finger { return .allowed }
            return passcode == .asked || finger == .asked ? .asked : passcode
        default: return finger
        }
    }

    // MARK: A newer class key

    func current(for item: Item) -> Name? { bag?.current(item.classKey.purpose) }

    /// Returns whether keychaind can move it to the newest key now.
    func isRenewable(_ item: Item) -> Bool {
        guard let bag, let current = current(for: item) else { return false }
        let mayReseal = resealing != nil || bag.passcode == nil
        return item.classKey != current && bag.slots.contains(item.classKey) && isOpen(item.classKey.purpose)
            && (mayReseal || !item.methods.contains { bag.isOlder($0) })
    }

    /// Returns the item after its renewal: under the newest class key, with each method that still opens sealed to the current pairs.
    func renewal(of item: Item) -> Item? {
        guard isRenewable(item), let bag, let current = current(for: item) else { return nil }
        var newer = item
        newer.classKey = current
        newer.methods = item.methods.map { way in bag.isOlder(way) ? way.compactMap { bag.current($0.purpose) } : way }
        return newer
    }

    /// Older class keys that no item needs.
    var unneeded: [Name] {
        guard let bag else { return [] }
        let needed = Set(items.map(\.classKey))
        return bag.slots.filter { KeyPurpose.classes.contains($0.purpose) && bag.current($0.purpose) != $0 && !needed.contains($0) }
    }
}
