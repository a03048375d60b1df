// The keychain client's own methods of these names take the place of this file.

import VaubanAccessPolicy
import VaubanKeychainClient

struct RewrapProgress: Sendable {
    let done: Int
    let left: Int
    let kept: Int
}

extension KeychainClient {
    func rewrap(waiting: Waiting? = nil) throws(Refusal) -> RewrapProgress { throw Refusal(.unsupported) }
    func discard() throws(Refusal) { throw Refusal(.unsupported) }
}
