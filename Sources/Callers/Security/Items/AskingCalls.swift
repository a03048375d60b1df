// Calls that may ask the person.

internal import VaubanAccessPolicy
internal import VaubanAuthenticationClient
internal import VaubanKeychainClient
internal import VaubanLinuxHost

extension ItemDictionary {
    /// A call that may ask the person: its context's invalidation ends it, and this process's terminal hears where they are asked.
    func running<Value>(
        _ call: (@escaping KeychainClient.Waiting, CallCancellation?) throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
        guard let context else { return try OwnTerminal.asking(of: try Service.current()) { (waiting) throws(Refusal) in try call(waiting, nil) } }
        let cancellation = CallCancellation()
        guard context.begin(cancellation) else { throw Refusal(.authenticationFailed, "the authentication context was invalidated") }
        defer { context.end(cancellation) }
        do throws(Refusal) {
            return try OwnTerminal.asking(of: try Service.current()) { (waiting) throws(Refusal) in try call(waiting, cancellation) }
        } catch {
            throw cancellation.isCancelled ? Refusal(.authenticationFailed, "the authentication context was invalidated") : error
        }
    }
}
