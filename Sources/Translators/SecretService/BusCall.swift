/// A method call of a client.
struct BusCall: Sendable {
    /// The serial number of the call, to which its reply refers.
    let number: UInt64
    /// The client's unique name.
    let sender: String
    let path: String
    let interface: String
    let member: String
    let signature: String
    let arguments: [BusValue]
    /// The approximate memory that the arguments take, in bytes.
    let bytes: Int
    /// When the call arrived, in nanoseconds of the monotonic clock.
    let arrival: UInt64
}

/// An outgoing message of the service.
enum BusOutgoing: Sendable {
    case reply(UInt64, [BusValue])
    case failure(UInt64, BusError)
    case signal(path: String, interface: String, member: String, [BusValue], destination: String? = nil)
    /// A call whose reply is ignored.
    case call(destination: String, path: String, interface: String, member: String, [BusValue])
}

/// An error of the D-Bus protocol that this service sends to a caller or receives from a provider. The name identifies the side at fault.
/// The text is for display and contains no secret.
struct BusError: Error {
    let name: String
    let text: String
}
