import Enclave
import Foundation
internal import Synchronization
import VaubanAccessPolicy
import VaubanLinuxHost

/// The connections on which private keys are used, so that a lock reaches what is open there.
final class KeyLines: Sendable {
    private let lines = Mutex<[ObjectIdentifier: KeyLine]>([:])

    /// Serves a connection on a thread of its own until it ends. Where there are too many, the one that was idle for longest gives way:
    /// whose it is makes another when it needs one.
    func begin(_ line: KeyLine) throws(Refusal) {
        let ended: [KeyLine]? = lines.withLock { lines in
            var ended: [KeyLine] = []
            for (isCounted, max) in line.limits {
                let counted = lines.values.filter(isCounted)
                guard counted.count >= max else { continue }
                let idle = counted.compactMap { line in line.idleSince.map { (line, $0) } }
                guard let longest = idle.min(by: { $0.1 < $1.1 })?.0 else { return nil }
                lines[ObjectIdentifier(longest)] = nil
                ended.append(longest)
            }
            lines[ObjectIdentifier(line)] = line
            return ended
        }
        guard let ended else { throw Refusal(.unavailable, "too many connections use private keys at once; try again") }
        for line in ended { line.end() }
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

extension KeyLine {
    /// What counts with this one, and how many of it there may be: of its process, of its person, and of all people.
    fileprivate var limits: [((KeyLine) -> Bool, Int)] {
        [
            ({ [caller] in $0.caller.uid == caller.uid && $0.caller.pid == caller.pid }, EnclaveLimits.keyLinesPerProcessMax),
            ({ [caller] in $0.caller.uid == caller.uid }, EnclaveLimits.keyLinesPerPersonMax),
            ({ _ in true }, DoorLimits.connectionsMax),
        ]
    }
}
