/// The limits of the agent's messages.
package enum SSHWireLimits {
    /// The largest message, its length not counted: as OpenSSH has it.
    package static let frameBytesMax = 256 << 10
    package static let destinationsMax = 1024
    package static let hostKeysMax = 1024
}
