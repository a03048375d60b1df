// Calls that may prompt the user.

internal import VaubanAuthenticationClient
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanRefusal

/// Runs a call that may prompt the user: invalidating its context ends it, and this process's terminal shows the place of the prompt.
func withPrompts<Value: ~Copyable>(
    _ context: (any KeychainAuthenticationContext)?, _ call: (@escaping KeychainClient.Waiting, CallCancellation?) throws(Refusal) -> Value
) throws(Refusal) -> Value {
    guard let context else {
        return try OwnTerminal.withPrompts(for: try Service.current()) { (waiting) throws(Refusal) in try call(waiting, nil) }
    }
    let cancellation = CallCancellation()
    guard context.begin(cancellation) else { throw Refusal(.authenticationFailed, "the authentication context was invalidated") }
    defer { context.end(cancellation) }
    do throws(Refusal) {
        return try OwnTerminal.withPrompts(for: try Service.current()) { (waiting) throws(Refusal) in try call(waiting, cancellation) }
    } catch {
        throw cancellation.isCancelled ? Refusal(.authenticationFailed, "the authentication context was invalidated") : error
    }
}

extension ItemDictionary {
    /// Runs this dictionary's call with its context.
    func perform<Value>(
        _ call: (@escaping KeychainClient.Waiting, CallCancellation?) throws(Refusal) -> Value
    ) throws(Refusal) -> Value { try withPrompts(context, call) }

    /// How a private key that the call finds is used afterwards.
    var keyContext: EnclaveKeyContext {
        EnclaveKeyContext(context: context, prompt: operationPrompt, suppressesUI: namedUI == .fail)
    }
}
