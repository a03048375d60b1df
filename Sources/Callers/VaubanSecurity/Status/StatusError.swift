/// What this module itself refuses, as its caller receives it: the caller's parameters, or the bytes of a key, a file or an item. What a
/// room refuses is a `Refusal`.
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
