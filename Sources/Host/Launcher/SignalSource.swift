internal import CVaubanLinux
import Glibc
internal import VaubanLinuxHost

/// A descriptor that delivers signals, so that a wait can combine them with a deadline and they interrupt no call.
struct SignalSource {
    private let descriptor: Descriptor

    /// The signals that make the launcher stop.
    static let stopping = [SIGTERM, SIGINT, SIGHUP]

    /// Blocks these signals for this process. Must be called before any other thread starts.
    init() throws(SystemError) {
        signal(SIGPIPE, SIG_IGN)
        let signals = Self.stopping + [SIGCHLD]
        descriptor = Descriptor(try SystemError.checkNegated(vauban_signal_descriptor(signals, Int32(signals.count)), "take over signals"))
    }

    /// Waits for a signal or the deadline, and takes all pending signals. Returns whether one of them makes the launcher stop.
    func wait(until deadline: UInt64?) throws(SystemError) -> Bool {
        var poller = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        let ready = poll(&poller, 1, MachineClock.pollTime(until: deadline))
        if ready < 0 && errno != EINTR { throw SystemError("wait for signals", code: errno) }
        var stops = false
        while true {
            let number = try SystemError.checkNegated(vauban_next_signal(descriptor.number), "read a signal")
            if number == 0 { return stops }
            if Self.stopping.contains(number) { stops = true }
        }
    }
}
