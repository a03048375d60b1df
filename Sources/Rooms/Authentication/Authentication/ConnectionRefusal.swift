internal import EnclaveConnection
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanRefusal

/// The refusal that a peer receives for an error that ends its connection.
enum ConnectionRefusal {
    static func refusal(_ error: any Error) -> Refusal {
        switch error {
        case let refusal as Refusal: refusal
        case let fault as DERError: Refusal(.malformed, fault.description)
        case ChannelError.foreignSender:
            Refusal(.malformed, "a message came from another process than the one that connected; a forked child must connect itself")
        case ChannelError.malformed(let why): Refusal(.malformed, why)
        case ChannelError.oversized: Refusal(.malformed, "a message exceeds the size limit")
        case ChannelError.deadline: Refusal(.malformed, "a message did not end in time")
        case let fault as EnclaveError: fault.refusal
        case is ChannelError, is SystemError, is HandshakeError: Refusal(.unavailable)
        // All other errors come from the decoder, which has its own error types.
        default: Refusal(.malformed, "the message is not DER")
        }
    }
}
