import Glibc
import VaubanLinuxHost

/// The enclave's authorization of one context, valid while this object lives: it holds the connection whose end revokes the authorization.
/// Neither a child process nor a program that this process executes inherits it: the connection belongs to this process and closes on exec.
package final class Authorization: Sendable {
    /// The enclave's handle, which is meaningful only to the enclave, and only from this process.
    private let handle: [UInt8]
    package let domainState: [UInt8]?
    private let channel: Channel
    private let process = getpid()

    init(handle: [UInt8], domainState: [UInt8]?, channel: Channel) {
        self.handle = handle
        self.domainState = domainState
        self.channel = channel
    }

    /// The handle; nil in a forked child, which does not own the authorization.
    package var ownHandle: [UInt8]? { getpid() == process ? handle : nil }

    deinit { end() }

    /// Revokes the authorization at the enclave. In a forked child it does nothing.
    package func end() { if getpid() == process { channel.shutDown() } }
}
