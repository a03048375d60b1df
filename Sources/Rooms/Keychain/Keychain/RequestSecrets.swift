internal import VaubanKeychainWire
internal import VaubanRefusal
internal import VaubanSecretBytes

/// The parts of a request's one secret section: the value, followed by the application password, whose length is in the request. Any
/// further bytes are refused.
struct RequestSecrets: ~Copyable {
    /// The value; empty if there is none.
    let value: SecretBytes
    private var password: SecretBytes?

    init(_ section: consuming SecretBytes?, of request: KeychainRequest) throws(Refusal) {
        let section = section.take() ?? SecretBytes(count: 0) { _ in }
        let passwordBytes = request.passwordBytes ?? 0
        let valueBytes = section.count - passwordBytes
        guard valueBytes >= 0 else { throw Refusal(.malformed, "the password is shorter than the request says") }
        guard request.hasData || valueBytes == 0 else { throw Refusal(.malformed, "a value came with a request that has none") }
        guard valueBytes <= KeychainLimits.valueBytesMax else { throw Refusal(.dataTooLarge) }
        guard passwordBytes > 0 else {
            password = nil
            value = section
            return
        }
        password = section.part(valueBytes..<section.count)
        value = section.part(0..<valueBytes)
    }

    mutating func takePassword() -> SecretBytes? { password.take() }
}

extension KeychainRequest {
    fileprivate var passwordBytes: Int? {
        switch self {
        case .add(_, _, _, let count, _), .copyMatching(_, let count), .update(_, _, let count), .history(_, let count),
            .backup(_, let count):
            count
        case .delete, .rewrap, .discard, .permissions, .permit, .move, .transfer, .examine, .restore, .handOver, .ownRights, .accessLog,
            .lastUses, .logHead, .canary, .sync, .sharedPassword:
            nil
        }
    }

    fileprivate var hasData: Bool {
        switch self {
        case .add(_, _, let hasData, _, _): hasData
        case .update(_, let changes, _): changes.hasData
        case .backup(let request, _): if case .restore = request { true } else { false }
        case .sync(let request): request.takesValue
        case .sharedPassword(let request): request.action == .save
        case .copyMatching, .delete, .rewrap, .discard, .permissions, .permit, .move, .transfer, .examine, .restore, .handOver, .ownRights,
            .accessLog, .lastUses, .logHead, .canary, .history:
            false
        }
    }
}
