import Enclave
import Foundation
import VaubanLinuxHost
import VaubanRefusal

/// The connections on which private keys are used, so that a lock reaches what is open there. Owners share them as they share an
/// endpoint's (Specs/owners.md).
final class KeyConnections: Sendable {
    private let lines = ThreadMutex<[ConnectionTable.Place: KeyConnection]>([:])
    private let table: ConnectionTable
    private let accounts: Accounts

    init(accounts: Accounts = .ofThisMachine) {
        table = ConnectionTable(
            max: DescriptorLimit.connections(ConnectionLimits.connectionsMax), perOwnerMax: EnclaveLimits.keyLinesPerUserMax)
        self.accounts = accounts
    }

    /// Serves a connection on a thread of its own until it ends. Where there are too many, one that was idle for long gives way:
    /// whose it is makes another when it needs one.
    func begin(_ line: KeyConnection) throws(Refusal) {
        try makeRoom(inTheProcessOf: line)
        guard let place = table.enter(accounts.owner(of: line.caller.uid)) else { throw Self.tooMany }
        table.set(line, in: place)
        lines.withLock { $0[place] = line }
        let thread = Thread { [self] in
            line.serve()
            lines.withLock { $0[place] = nil }
            table.leave(place)
        }
        thread.stackSize = 1 << 19
        thread.start()
    }

    /// No program takes all that its user may have.
    private func makeRoom(inTheProcessOf line: KeyConnection) throws(Refusal) {
        let own = lines.withLock {
            $0.filter { $0.value.caller.uid == line.caller.uid && $0.value.caller.pid == line.caller.pid && !$0.value.isEnding }
        }
        guard own.count >= EnclaveLimits.keyLinesPerProcessMax else { return }
        let idle = own.compactMap { place, line in line.idleSince.map { (place: place, since: $0) } }
        guard let longest = idle.min(by: { $0.since < $1.since }) else { throw Self.tooMany }
        table.end(longest.place)
    }

    private static let tooMany = Refusal(.unavailable, "too many connections use private keys at once; try again")

    func erase(_ user: UInt32, everything: Bool) {
        for line in lines.withLock({ Array($0.values) }) where line.caller.uid == user { line.erase(everything: everything) }
    }
}
