// The order of key derivations (Specs/key-hierarchy.md, section 10). It is a value without threads, so that tests can enumerate its states.

/// The purpose of a derivation.
package enum DerivationKind: Hashable, Sendable {
    /// The user's passcode: an unlock, an answer to a prompt, or a credential request.
    case passcode
    /// The application password of one item or key.
    case applicationPassword
}

/// The requests that wait for a key derivation, of which one runs at a time. Among the waiting owners, the least recently served is next;
/// within an owner, requests keep their order. Passcodes precede application passwords, but an owner who submits one passcode after another
/// yields to the waiting application passwords in between.
package struct DerivationOrder: Sendable {
    /// A request that may need derivations. The number of places per owner is limited.
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
    /// The number of turns that have begun.
    package private(set) var served: UInt64 = 0
    /// The turn in which each owner was last served. Owners not listed were not served recently.
    private var lastServed: [UInt32: UInt64] = [:]
    /// Owners whose passcode has had a turn since the last application password had one.
    private var wentAhead: Set<UInt32> = []

    package init() {}

    package var waitingCount: Int { waiting.count }

    /// Returns a place, or nil if the owner has used up all of theirs.
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

    /// Enqueues one derivation. Its turn may begin at once.
    package mutating func wait(_ place: Place) -> DerivationTicket {
        issued += 1
        let ticket = DerivationTicket(place: place, number: issued)
        waiting.append(ticket)
        advance()
        return ticket
    }

    /// Ends a turn, or the wait for one. Returns the ticket whose turn begins as a result.
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
        if lastServed.count > EnclaveLimits.derivationOwnersMax {
            let oldest = served - UInt64(EnclaveLimits.derivationOwnersMax / 2)
            lastServed = lastServed.filter { $0.value > oldest }
        }
    }

    private func next() -> DerivationTicket? {
        first { $0.kind == .passcode && !wentAhead.contains($0.owner) } ?? first { $0.kind == .applicationPassword } ?? first { _ in true }
    }

    /// Returns the first ticket of the least recently served owner.
    private func first(_ isMeant: (Place) -> Bool) -> DerivationTicket? {
        waiting.filter { isMeant($0.place) }.min { one, other in
            (lastServed[one.place.owner] ?? 0, one.number) < (lastServed[other.place.owner] ?? 0, other.number)
        }
    }
}
