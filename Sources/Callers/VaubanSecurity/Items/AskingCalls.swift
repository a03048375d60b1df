// Calls that may ask the user.

internal import VaubanAuthenticationClient
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanRefusal

/// A call that may ask the user: its context's invalidation ends it, and this process's terminal hears where they are asked.
func asking<Value: ~Copyable>(
    _ context: (any KeychainAuthenticationContext)?, _ call: (@escaping KeychainClient.Waiting, CallCancellation?) throws(Refusal) -> Value
) throws(Refusal) -> Value {
    guard let context else {
        return try OwnTerminal.asking(of: try Service.current()) { (waiting) throws(Refusal) in try call(waiting, nil) }
    }
    let cancellation = CallCancellation()
    guard context.begin(cancellation) else { throw Refusal(.authenticationFailed, "the authentication context was invalidated") }
    defer { context.end(cancellation) }
    do throws(Refusal) {
        return try OwnTerminal.asking(of: try Service.current()) { (waiting) throws(Refusal) in try call(waiting, cancellation) }
    } catch {
        throw cancellation.isCancelled ? Refusal(.authenticationFailed, "the authentication context was invalidated") : error
    }
}

extension ItemDictionary {
    func running<Value>(
        _ call: (@escaping KeychainClient.Waiting, CallCancellation?) throws(Refusal) -> Value
    ) throws(Refusal) -> Value { try asking(context, call) }

    /// How a private key that the call finds is used afterwards.
    var keyContext: EnclaveKeyContext {
        EnclaveKeyContext(context: context, prompt: operationPrompt, suppressesUI: suppressesUI || authenticationUI == .fail)
    }
}
