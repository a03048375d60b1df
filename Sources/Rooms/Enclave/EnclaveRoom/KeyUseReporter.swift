// Reports to keychaind how often programs used private keys, at once for the first use, then twice a second (Specs/access-log.md).

import Enclave
import EnclaveWire
import Glibc
import VaubanLinuxHost

final class KeyUseReporter: Sendable {
    let ledger: KeyUseLedger
    private let wakeup: Wakeup

    init() throws(SystemError) {
        let wakeup = try Wakeup()
        self.wakeup = wakeup
        ledger = KeyUseLedger { wakeup.signal() }
    }

    /// Wakes the thread, to report what could not be reported before. Thread-safe.
    func wake() { wakeup.signal() }

    /// Starts a thread that reports for as long as the process lives.
    func start(in room: EnclaveRoom) {
        HostThread.startForLife { [self] in
            while true {
                _ = wakeup.wait(until: .max)
                report(in: room)
                // Collects the uses within this time. A signal that arrives meanwhile stays pending.
                _ = poll(nil, 0, EnclaveLimits.keyUsePauseMilliseconds)
            }
        }
    }

    private func report(in room: EnclaveRoom) {
        if let notice = room.leases.takeUnconfirmed() { ledger.putBack(notice) }
        let notices = ledger.take { user, signer in room.knownVault(of: user)?.teamNames[signer.team] != nil }
        for notice in notices { if !room.leases.report(notice) { ledger.putBack(notice) } }
    }
}
