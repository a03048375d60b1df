// The standing connection over which the enclave takes back what it has lent. While it is down nothing is held.

internal import EnclaveWire
internal import Glibc
internal import Logging
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanRoomHardening

final class LeaseConnection: Sendable {
    private let address: ServerAddress
    private let lent: LeasedKeyStore
    private let logger: Logger

    init(address: ServerAddress, lent: LeasedKeyStore, logger: Logger) {
        self.address = address
        self.lent = lent
        self.logger = logger
    }

    /// Keeps the connection for as long as the process runs, on a thread of its own.
    func start() {
        StandingConnection(address, role: EnclaveRole.lease.rawValue, longestPause: KeychainLimits.reconnectMillisecondsMax).keepOnThread(
            serve: { [self] channel in if isStanding(channel) { serve(channel) } },
            lost: { [logger] fault in logger.debug("the enclave's door does not open", metadata: ["why": "\(fault)"]) })
    }

    /// Whether the enclave says that recalls will come here. Before it does, they may still go to an older line.
    private func isStanding(_ channel: Channel) -> Bool {
        guard let message = try? channel.receive(.machine) else { return false }
        return (try? LeaseStanding(derBytes: message.header)) != nil
    }

    /// Carries out recalls until the connection ends. Keys are erased before the enclave hears that they are.
    private func serve(_ channel: Channel) {
        _ = lent.standingConnectionBegan()
        defer { lent.standingConnectionEnded() }
        logger.info("keys can be borrowed")
        do {
            while true {
                let message = try channel.receive(.idle)
                let recall = try LeaseRecall(derBytes: message.header)
                lent.recall(recall)
                ScratchMemory.scrubStack()
                try channel.send(header: try LeaseErased(user: recall.user, epoch: recall.epoch).encoded())
            }
        } catch {
            logger.warning("the standing connection to the enclave has ended; borrowed keys are erased")
        }
    }
}

/// A pause between two attempts at something that no descriptor announces.
enum Pause {
    static func milliseconds(_ time: Int32) { _ = poll(nil, 0, time) }
}
