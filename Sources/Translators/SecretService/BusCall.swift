/// A method call of a client.
struct BusCall: Sendable {
    /// Identifies the call in its reply.
    let number: UInt64
    /// The client's unique name.
    let sender: String
    let path: String
    let interface: String
    let member: String
    let signature: String
    let arguments: [BusValue]
    /// What the arguments take of the memory, about.
    let bytes: Int
    /// When the call came, on the monotonic clock, in nanoseconds.
    let arrival: UInt64
}

/// An outgoing message of the service.
enum BusOutgoing: Sendable {
    case reply(UInt64, [BusValue])
    case failure(UInt64, BusFailure)
    case signal(path: String, interface: String, member: String, [BusValue], destination: String? = nil)
    /// A call whose reply is ignored.
    case call(destination: String, path: String, interface: String, member: String, [BusValue])
}

/// An error of the protocol, as this service sends it to a caller or receives it from a provider; its name says who is to blame. The text
/// is for display and contains no secret.
struct BusFailure: Error {
    let name: String
    let text: String
}
