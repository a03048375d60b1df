internal import CVaubanLinux
import Glibc
internal import Synchronization

/// Wakes a thread at a time of the boot-time clock, when the machine wakes from sleep, and when its date is set.
package final class DueTimer: Sendable {
    private let due: Descriptor
    private let jump: Descriptor
    private let next = Atomic<UInt64>(.max)
    private let wakeup: Wakeup

    package init() throws(SystemError) {
        due = Descriptor(try SystemError.checkNegated(vauban_boot_timer(), "make a timer"))
        jump = Descriptor(try SystemError.checkNegated(vauban_clock_jump(), "watch the clock"))
        wakeup = try Wakeup()
    }

    /// Ends the current or the next `wait`, whatever time is set. Thread-safe.
    package func wake() { wakeup.signal() }

    /// Sets the time in nanoseconds of the boot-time clock; nil for never. Thread-safe.
    package func set(at boot: UInt64?) {
        next.store(boot ?? .max, ordering: .releasing)
        _ = vauban_set_boot_timer(due.number, boot ?? 0)
    }

    package func isLater(than boot: UInt64) -> Bool { next.load(ordering: .acquiring) > boot }

    /// Returns when something may be due. Only one thread may wait at a time.
    package func wait() {
        var pollers = [
            pollfd(fd: due.number, events: Int16(POLLIN), revents: 0), pollfd(fd: jump.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeup.descriptor.number, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&pollers, nfds_t(pollers.count), -1) < 0 {}
        var count: UInt64 = 0
        if pollers[0].revents != 0 {
            _ = read(due.number, &count, MemoryLayout<UInt64>.size)
            next.store(.max, ordering: .releasing)
        }
        if pollers[2].revents != 0 { wakeup.clear() }
        if pollers[1].revents != 0 { _ = vauban_rearm_clock_jump(jump.number) }
    }
}
