internal import CVaubanLinux
import Glibc

/// Waits for a signal of another thread, the end of a connection or of a process, and a deadline, whichever comes first.
package final class Wakeup: Sendable {
    /// Readable while a signal is pending, so that another poll can include it.
    package let descriptor: Descriptor
    private let writing: Descriptor

    package enum Outcome: Sendable {
        case signaled
        /// The peer of the watched connection hung up.
        case hungUp
        /// The watched process has ended.
        case processEnded
        case deadline
    }

    package init() throws(SystemError) {
        var ends: [Int32] = [0, 0]
        try SystemError.checkNegated(vauban_pipe(&ends), "make a pipe")
        descriptor = Descriptor(ends[0])
        writing = Descriptor(ends[1])
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    /// Clears pending signals.
    package func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor.number, &bytes, bytes.count) == bytes.count {}
    }

    /// Signals the waiting thread. A failed write is harmless, since a full pipe is already readable.
    package func signal() {
        var byte: UInt8 = 1
        _ = write(writing.number, &byte, 1)
    }

    /// Waits until the condition holds; whoever may have changed it signals. Returns false if it does not hold at the deadline.
    package func wait(until deadline: UInt64, for condition: () -> Bool) -> Bool {
        while !condition() {
            if case .deadline = wait(until: deadline) { return false }
        }
        return true
    }

    /// Waits until the deadline (monotonic clock, nanoseconds). Signals that came before count, and are cleared.
    package func wait(until deadline: UInt64, connection: Descriptor? = nil, process: Descriptor? = nil) -> Outcome {
        var pollers = [
            pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0),
            // poll always reports a hang-up. A shutdown of this side's reads does not count.
            pollfd(fd: connection?.number ?? -1, events: 0, revents: 0),
            pollfd(fd: process?.number ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let ready = poll(&pollers, nfds_t(pollers.count), MachineClock.pollTime(until: deadline))
            if ready < 0 { continue }
            if pollers[0].revents != 0 {
                var bytes = [UInt8](repeating: 0, count: 64)
                _ = read(descriptor.number, &bytes, bytes.count)
                return .signaled
            }
            if pollers[1].revents != 0 { return .hungUp }
            if pollers[2].revents != 0 { return .processEnded }
            if MachineClock.monotonic >= deadline { return .deadline }
        }
    }
}
