import Glibc
import VaubanLinuxHost

/// What the enclave let one context do, for as long as this lives: it holds the connection with which it ends. Neither a child
/// nor a program that takes this process's place has it, since the connection is this process's and closes when it executes.
package final class Authorization: Sendable {
    /// Worth something at the enclave alone, from this process.
    private let handle: [UInt8]
    package let domainState: [UInt8]?
    private let channel: Channel
    private let process = getpid()

    init(handle: [UInt8], domainState: [UInt8]?, channel: Channel) {
        self.handle = handle
        self.domainState = domainState
        self.channel = channel
    }

    /// Nil in a forked child, to which it does not belong.
    package var ownHandle: [UInt8]? { getpid() == process ? handle : nil }

    deinit { end() }

    /// Ends it at the enclave. A forked child's copy ends nothing of its parent's.
    package func end() { if getpid() == process { channel.shutDown() } }
}
