internal import VaubanAccessPolicy
package import VaubanUserModel
package import VaubanUserWire

/// What a room asks of the enclave on one connection. The user is always that of the registered caller.
package enum EnclaveRequest: Hashable, Sendable {
    /// Comes with two descriptors: the caller's accepted connection and its process. Valid for this connection, until
    /// the next registration on it.
    case registerCaller
    /// For keychaind: a new item key, wrapped for this row. The key is the reply's secret section; the application's
    /// password, where the control needs one, is the request's.
    case seal(RowBinding)
    /// For keychaind: the item key of this row, beside its application's password where it has one. May ask the user
    /// first, unless `mayAsk` is false or the caller's `authorization` is enough.
    case open(RowBinding, wrapped: [UInt8], reason: String?, mayAsk: Bool, authorization: [UInt8]? = nil)
    /// For keychaind: the metadata and index keys that are open now, as one secret section.
    case lease
    /// For keychaind: the same item key, wrapped by the class key of another generation. Asks nobody and shows no key.
    case rewrap(RowBinding, wrapped: [UInt8], generation: [UInt8])
    /// For keychaind: no row and no quarantined row is wrapped by these older class keys any more, so they may go.
    case retire([KeyName])
    /// For keychaind: what became of a key.
    case fate(KeyName)
    /// For keychaind: asks the user to let the caller across the line between its items and another's.
    case consent(Consent, reason: String?)
    /// For keychaind and authd: who the registered caller is. Asked before the caller hears a word, it is the word on the
    /// process that speaks on that connection for as long as it lasts.
    case identify
    /// For keychaind: comes with the caller's accepted connection, on which the caller uses private keys from now on.
    case handOver
    /// For authd: a request of its own door, passed on.
    case user(UserRequest)

    /// The role whose connections may ask this.
    package var role: EnclaveRole? {
        switch self {
        case .registerCaller, .identify: nil
        case .seal, .open, .lease, .rewrap, .retire, .fate, .consent, .handOver: .keychain
        case .user: .authentication
        }
    }

    /// Whether descriptors of the caller come beside it.
    package var takesDescriptors: Bool {
        switch self {
        case .registerCaller, .handOver: true
        case .seal, .open, .lease, .rewrap, .retire, .fate, .consent, .identify, .user: false
        }
    }

    /// Whether its answer may have to wait for the user.
    package var mayWaitForUser: Bool {
        switch self {
        case .open, .consent: true
        case .user(let request): request.mayWaitForUser
        case .registerCaller, .seal, .lease, .rewrap, .retire, .fate, .identify, .handOver: false
        }
    }

    /// Whether an application's password may come as its secret section.
    package var takesSecret: Bool {
        switch self {
        case .seal(let row), .open(let row, _, _, _, _): row.accessControl?.needsApplicationPassword ?? false
        case .registerCaller, .lease, .rewrap, .retire, .fate, .consent, .identify, .handOver, .user: false
        }
    }
}
