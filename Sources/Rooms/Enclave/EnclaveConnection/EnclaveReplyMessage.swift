package import EnclaveWire
internal import VaubanDER
package import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

/// A decoded reply of the enclave, with its descriptors and its secret.
package final class EnclaveReplyMessage {
    package let reply: EnclaveReply
    package let descriptors: [Descriptor]
    private var secret: SecretBytes?

    init(_ message: consuming Message) throws(ChannelError) {
        do { reply = try EnclaveReply(derBytes: message.header) } catch { throw .malformed("the enclave's reply cannot be decoded") }
        descriptors = message.descriptors
        guard descriptors.count == reply.descriptorCount else { throw .malformed("the enclave's reply has a wrong number of descriptors") }
        secret = message.takeSecret()
        guard secret == nil || reply.mayCarrySecret else { throw .malformed("the enclave's reply carries a secret") }
    }

    /// Takes the secret section, which must have exactly `count` bytes.
    package func takeSecret(_ count: Int) throws(EnclaveError) -> SecretBytes {
        guard let secret = secret.take(), secret.count == count else { throw .unexpectedReply("the secret is missing") }
        return secret
    }
}

/// Why a request got no reply. Each case has its own party to blame: the caller, the enclave, the user who did not answer, or Vauban.
package enum EnclaveError: Error, Sendable {
    /// The caller has hung up, so there is no one to reply to.
    case callerGone
    /// The enclave refuses to serve the caller's uid.
    case refused(Refusal)
    /// The timeout expired: the user's if they were prompted, otherwise the machine's.
    case late(userWasPrompted: Bool)
    /// The connection cannot be made, or broke a second time.
    case unreachable(ChannelError)
    /// The reply does not belong to the request: an error in Vauban.
    case unexpectedReply(String)

    /// Whether an unidentified caller receives the reason: its user may not use the service, or the enclave does not respond. In all other
    /// cases the enclave has seen another caller than the room has, or has sent a message that does not belong here.
    package var isReportedToUnidentifiedCallers: Bool {
        switch self {
        case .late, .unreachable(.closed), .unreachable(.deadline), .unreachable(.system): true
        case .refused(let refusal): [.notAllowedHere, .stateUnreadable, .unavailable].contains(refusal.reason)
        case .callerGone, .unreachable, .unexpectedReply: false
        }
    }
}
