import SimulatedHost

// The alphabet: what can happen to an enclave in one step.

enum Operation: String, Hashable, CaseIterable {
    case set, setWeak, change, changeWrong, roll, remove, erase, eraseUnknown
    case unlock, unlockWrong, lock
    case add, ask, askWrong, showFinger, renewItems
    case recover, recoverWrong, newRecovery, noRecovery, configure
    case enroll, forget, missFinger, otherFingers, unlockByFinger
}

enum Event: String, Hashable, CaseIterable {
    /// The enclave is killed between two operations and started again, once on a disk that cannot be read for a while.
    case restart, restartUnreadable
    /// The machine loses its power and starts again.
    case powerCut
    /// Time: more than the first delay, more than the longest, more than fingers last.
    case minutePasses, hourPasses, daysPass
    /// The machine sleeps for ten minutes, and somebody announced it, or not.
    case sleep, announcedSleep
    case screenLocks, screenUnlocks, readerComesOrGoes
}

enum Step: Hashable {
    case operation(Operation)
    /// With this fault of the disk from its beginning to its end.
    case failing(Operation, SimulatedDisk.Fault)
    /// Cut off at the instant after so many steps of the disk, counted round; with a power cut, what the disk keeps.
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
