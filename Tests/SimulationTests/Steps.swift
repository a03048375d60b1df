import SimulatedHost

// The alphabet: everything that can happen to an enclave in one step.

enum Operation: String, Hashable, CaseIterable {
    case set, setWeak, change, changeWrong, roll, remove, erase, eraseUnknown
    case unlock, unlockWrong, lock
    case add, ask, askWrong, showFinger, renewItems
    case recover, recoverEarlier, recoverWrong, newRecovery, confirmRecovery, noRecovery, configure
    case enroll, forget, missFinger, otherFingers, unlockByFinger
}

enum Event: String, Hashable, CaseIterable {
    /// The enclave is killed between two operations and started again, once on a disk that temporarily cannot be read.
    case restart, restartUnreadable
    /// The machine loses power and starts again.
    case powerCut
    /// Time: more than the first delay, more than the longest one, more than fingerprints last.
    case minutePasses, hourPasses, daysPass
    /// The machine sleeps for ten minutes, announced or not.
    case sleep, announcedSleep
    case screenLocks, screenUnlocks, readerComesOrGoes
}

enum Step: Hashable {
    case operation(Operation)
    /// With this fault of the disk throughout the operation.
    case failing(Operation, SimulatedDisk.Fault)
    /// Cut off after this many steps of the disk, modulo their number; with a power cut, the disk decides what it keeps.
    case killed(Operation, instant: Int)
    case powerCut(Operation, instant: Int, seed: UInt64)
    case event(Event)

    /// The whole alphabet without faults within operations.
    static let plain = Operation.allCases.map(Step.operation) + Event.allCases.map(Step.event)
}

extension Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .operation(let operation): operation.rawValue
        case .failing(let operation, let fault): "\(operation.rawValue) with \(fault)"
        case .killed(let operation, let instant): "\(operation.rawValue) killed at \(instant)"
        case .powerCut(let operation, let instant, let seed): "\(operation.rawValue) without power at \(instant), seed \(seed)"
        case .event(let event): event.rawValue
        }
    }
}
