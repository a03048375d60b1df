// The standing connection over which the enclave recalls leased keys, and sends notices of uses of private keys. While it is down,
// keychaind holds no leased keys.

internal import EnclaveWire
internal import Glibc
internal import Logging
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanRoomHardening

final class LeaseConnection: Sendable {
    private let address: ServerAddress
    private let leasedKeys: LeasedKeyStore
    private let logger: Logger
    /// Receives the notices. Must not wait.
    private let onKeyUses: @Sendable (KeyUseNotice) -> Void

    init(
        address: ServerAddress, leasedKeys: LeasedKeyStore, logger: Logger, onKeyUses: @escaping @Sendable (KeyUseNotice) -> Void
    ) {
        self.onKeyUses = onKeyUses
        self.address = address
        self.leasedKeys = leasedKeys
        self.logger = logger
    }

    /// Starts a thread that keeps the connection for as long as the process runs.
    func start() {
        StandingConnection(address, role: EnclaveRole.lease.rawValue, longestPause: KeychainLimits.reconnectMillisecondsMax).keepOnThread(
            serve: { [self] channel in if isStanding(channel) { serve(channel) } },
            lost: { [logger] fault in logger.debug("cannot connect to the enclave", metadata: ["why": "\(fault)"]) })
    }

    /// Returns whether the enclave sends recalls over this connection. Until it confirms this, they may still go to an older one.
    private func isStanding(_ channel: Channel) -> Bool {
        guard let message = try? channel.receive(.machine) else { return false }
        return (try? LeaseStanding(derBytes: message.header)) != nil
    }

    /// Answers recalls and notices until the connection ends. Erases keys before it confirms that to the enclave.
    private func serve(_ channel: Channel) {
        _ = leasedKeys.standingConnectionBegan()
        defer { leasedKeys.standingConnectionEnded() }
        logger.info("ready to lease keys")
        do {
            while true {
                let message = try channel.receive(.idle)
                guard let recall = try? LeaseRecall(derBytes: message.header) else {
                    onKeyUses(try KeyUseNotice(derBytes: message.header))
                    try channel.send(header: try KeyUsesNoted().encoded())
                    continue
                }
                leasedKeys.recall(recall)
                ScratchMemory.scrubStack()
                try channel.send(header: try LeaseErased(user: recall.user, epoch: recall.epoch).encoded())
            }
        } catch {
            logger.warning("the standing connection to the enclave has ended; leased keys were erased")
        }
    }
}

/// A pause between two attempts at something that no descriptor announces, or while something is collected.
enum Pause {
    static func milliseconds(_ time: Int32) { _ = poll(nil, 0, time) }
}
