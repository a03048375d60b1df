package import VaubanKeychainWire
package import VaubanLinuxHost
package import VaubanSecretBytes

/// The destination of replies.
package protocol ReplySink {
    func send(_ reply: KeychainReply) throws
    func send(_ reply: KeychainReply, value: borrowing SecretBytes) throws
    /// Sends the last reply of a request, with its value if it has one, and the end.
    func finish(_ reply: KeychainReply, value: borrowing SecretBytes?) throws
    /// The caller's connection, whose end cancels a request that waits; nil if there is none.
    var connection: Descriptor? { get }
}

extension ReplySink {
    package var connection: Descriptor? { nil }

    package func finish(_ reply: KeychainReply, value: borrowing SecretBytes?) throws {
        switch value {
        case .none: try send(reply)
        case .some(let value): try send(reply, value: value)
        }
        try send(.done)
    }
}
