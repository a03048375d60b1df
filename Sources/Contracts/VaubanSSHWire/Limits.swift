/// The limits of SSH agent messages.
package enum SSHWireLimits {
    /// The largest message without its length field, as in OpenSSH.
    package static let frameBytesMax = 256 << 10
    package static let destinationsMax = 1024
    package static let hostKeysMax = 1024
}
