import Enclave
import Foundation
internal import Synchronization
import VaubanAccessPolicy
import VaubanLinuxHost

/// The connections on which private keys are used, so that a lock reaches what is open there.
final class KeyLines: Sendable {
    private let lines = Mutex<[ObjectIdentifier: KeyLine]>([:])

    /// Serves a connection on a thread of its own until it ends.
    func begin(_ line: KeyLine) throws(Refusal) {
        let isIn = lines.withLock { lines in
            guard lines.values.count(where: { $0.caller.uid == line.caller.uid }) < EnclaveLimits.keyLinesPerPersonMax else { return false }
            lines[ObjectIdentifier(line)] = line
            return true
        }
        guard isIn else { throw Refusal(.unavailable, "too many connections use private keys at once; close some") }
        let thread = Thread { [self] in
            line.serve()
            lines.withLock { $0[ObjectIdentifier(line)] = nil }
        }
        thread.stackSize = 1 << 19
        thread.start()
    }

    func erase(_ person: UInt32, everything: Bool) {
        for line in lines.withLock({ Array($0.values) }) where line.caller.uid == person { line.erase(everything: everything) }
    }
}
