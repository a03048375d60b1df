// Whose derivation is next (Specs/key-hierarchy.md, section 10): a value without threads, so that it can be tried whole.

/// What a derivation is for.
package enum DerivationKind: Hashable, Sendable {
    /// A passcode of the user: an unlock, an answer to a prompt, a ceremony.
    case passcode
    /// An application's own password for one item or key.
    case applicationPassword
}

/// The requests that wait for the one derivation that runs at a time. Each owner has one place: of those who wait, the one who was
/// served longest ago is next, and within an owner the request that came first. Passcodes come before applications' passwords; where
/// an owner asks for one passcode after the other, those are reached in between.
package struct DerivationOrder: Sendable {
    /// A request that may need derivations. An owner has so many at most.
    package struct Place: Hashable, Sendable {
        package let owner: UInt32
        package let kind: DerivationKind

        package init(owner: UInt32, kind: DerivationKind) {
            self.owner = owner
            self.kind = kind
        }
    }

    /// One derivation of a request.
    package struct DerivationTicket: Hashable, Sendable {
        package let place: Place
        fileprivate let number: UInt64
    }

    private var places: [Place: Int] = [:]
    private var waiting: [DerivationTicket] = []
    package private(set) var running: DerivationTicket?
    private var issued: UInt64 = 0
    /// How many turns have begun.
    package private(set) var served: UInt64 = 0
    /// When each owner was served last, by number; those who are not here were not served for long.
    private var lastServed: [UInt32: UInt64] = [:]
    /// Owners whose passcodes went ahead of the applications' passwords that wait.
    private var wentAhead: Set<UInt32> = []

    package init() {}

    package var waitingCount: Int { waiting.count }

    /// A place, or nil where the owner has as many as an owner may have.
    package mutating func enter(_ owner: UInt32, _ kind: DerivationKind) -> Place? {
        let place = Place(owner: owner, kind: kind)
        let passcodes = places[Place(owner: owner, kind: .passcode), default: 0]
        let passwords = places[Place(owner: owner, kind: .applicationPassword), default: 0]
        guard passcodes + passwords < EnclaveLimits.derivationsWaitingMax else { return nil }
        if kind == .applicationPassword, passwords >= EnclaveLimits.applicationDerivationsWaitingMax { return nil }
        places[place, default: 0] += 1
        return place
    }

    package mutating func leave(_ place: Place) {
        let left = places[place, default: 1] - 1
        places[place] = left > 0 ? left : nil
    }

    /// Stands in the queue for one derivation, whose turn may have come at once.
    package mutating func wait(_ place: Place) -> DerivationTicket {
        issued += 1
        let ticket = DerivationTicket(place: place, number: issued)
        waiting.append(ticket)
        advance()
        return ticket
    }

    /// Ends a turn, or the wait for it. Answers the request whose turn has come by that.
    @discardableResult
    package mutating func end(_ ticket: DerivationTicket) -> DerivationTicket? {
        guard ticket == running else {
            waiting.removeAll { $0 == ticket }
            return nil
        }
        running = nil
        advance()
        return running
    }

    private mutating func advance() {
        guard running == nil, let next = next() else { return }
        waiting.removeAll { $0 == next }
        running = next
        served += 1
        lastServed[next.place.owner] = served
        if next.place.kind == .passcode { wentAhead.insert(next.place.owner) } else { wentAhead = [] }
        if lastServed.count > EnclaveLimits.derivationOwnersRemembered {
            let oldest = served - UInt64(EnclaveLimits.derivationOwnersRemembered / 2)
            lastServed = lastServed.filter { $0.value > oldest }
        }
    }

    private func next() -> DerivationTicket? {
        first { $0.kind == .passcode && !wentAhead.contains($0.owner) } ?? first { $0.kind == .applicationPassword } ?? first { _ in true }
    }

    /// Of the owner who was served longest ago, the one that came first.
    private func first(_ isMeant: (Place) -> Bool) -> DerivationTicket? {
        waiting.filter { isMeant($0.place) }.min { one, other in
            (lastServed[one.place.owner] ?? 0, one.number) < (lastServed[other.place.owner] ?? 0, other.number)
        }
    }
}
