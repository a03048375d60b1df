internal import EnclaveConnection
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanLinuxHost

/// What whoever spoke at the door is told about a fault that ends the connection. The one mapping of this door.
enum DoorFault {
    static func refusal(_ error: any Error) -> Refusal {
        switch error {
        case let refusal as Refusal: refusal
        case let fault as DERFault: Refusal(.malformed, fault.description)
        case ChannelFault.foreignSender:
            Refusal(.malformed, "a message came from another process than the one that connected; a forked child connects itself")
        case ChannelFault.malformed(let why): Refusal(.malformed, why)
        case ChannelFault.oversized: Refusal(.malformed, "a message is larger than this door takes")
        case ChannelFault.deadline: Refusal(.malformed, "a message did not end in time")
        case let fault as EnclaveFault: fault.refusal
        case is ChannelFault, is SystemFault, is HandshakeFault: Refusal(.unavailable)
        // What is left are faults of the encoding, which its library reports in types of its own.
        default: Refusal(.malformed, "the message is not DER")
        }
    }
}
