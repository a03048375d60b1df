import Glibc
internal import VaubanLinuxHost

extension Channel {
    /// Whether a notice can be sent now without waiting for the peer. A stream socket counts as writable while three quarters of its buffer
    /// are free, far more than a notice needs.
    var canSendNotice: Bool {
        var poller = pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)
        return poll(&poller, 1, 0) == 1 && Int32(poller.revents) & POLLOUT != 0
    }
}
