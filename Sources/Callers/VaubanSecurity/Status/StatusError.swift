/// The module's own errors, as its caller receives them: for the caller's parameters, or the bytes of a key, a file or an item. A refusal
/// of a room is a `Refusal`.
struct StatusError: Error {
    let status: OSStatus
    let message: String

    init(_ status: OSStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    static let unsupported = StatusError(errSecParam, "the key does not support this algorithm")
    /// The rooms do not parse values, so only this module notices.
    static let notACertificate = StatusError(errSecDecode, "the value of this item is not a certificate")
}
