package import EnclaveWire
internal import VaubanDER
package import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

/// A message of the enclave, read.
package final class EnclaveAnswer {
    package let reply: EnclaveReply
    package let descriptors: [Descriptor]
    private var secret: SecretBytes?

    init(_ message: consuming Message) throws(ChannelError) {
        do { reply = try EnclaveReply(derBytes: message.header) } catch { throw .malformed("the enclave's answer cannot be read") }
        descriptors = message.descriptors
        guard descriptors.count == reply.descriptorCount else { throw .malformed("the enclave's answer has a wrong number of descriptors") }
        secret = message.takeSecret()
        guard secret == nil || reply.mayCarrySecret else { throw .malformed("the enclave's answer carries a secret") }
    }

    /// Takes out the secret section, which must be as long as this.
    package func takeSecret(_ count: Int) throws(EnclaveError) -> SecretBytes {
        guard let secret = secret.take(), secret.count == count else { throw .notUnderstood("an answer without its secret") }
        return secret
    }
}

/// Why a request got no answer, by who is to blame.
package enum EnclaveError: Error, Sendable {
    /// The caller has hung up; there is nobody to answer.
    case callerGone
    /// The enclave serves nobody with the caller's number.
    case refused(Refusal)
    /// The time for the answer is over: the user's, where they were being asked, and the enclave's otherwise.
    case late(userWasAsked: Bool)
    /// The connection cannot be made, or broke, again.
    case unreachable(ChannelError)
    /// The enclave said something that is no answer to the request: a fault of Vauban's.
    case notUnderstood(String)
}
