// The enclave never dials: authd holds a line open, over which the enclave asks for the person.

internal import EnclaveWire
import Foundation
import Glibc
internal import Logging
internal import VaubanDER
internal import VaubanLinuxHost

/// The standing connection to the enclave, opened again whenever it is lost.
struct AttentionLine: Sendable {
    let enclave: ServerAddress
    let desk: AttentionDesk
    let environments: EnvironmentDesk
    let log: Logger

    func start() {
        let thread = Thread { run() }
        thread.stackSize = AuthenticationLimits.threadStackBytes
        thread.start()
    }

    private func run() -> Never {
        var pause: Int32 = 0
        while true {
            let opened = MachineClock.monotonic
            do {
                try serve()
            } catch {
                log.notice("the line to the enclave is lost", metadata: ["why": "\(error)"])
            }
            let wasGood = MachineClock.monotonic - opened > AuthenticationLimits.goodLine
            pause = wasGood ? 0 : min(max(pause * 2, AuthenticationLimits.reconnectPauseMin), AuthenticationLimits.reconnectPauseMax)
            // Nothing can be waited for here but time: the socket is there, and who should be behind it is not.
            poll(nil, 0, pause)
        }
    }

    /// The launcher and systemd keep the socket open while the enclave starts, so connecting waits for it.
    private func serve() throws -> Never {
        let line = try enclave.connect(role: EnclaveRole.attention.rawValue)
        desk.enclaveArrived(line)
        environments.changedForAll()
        defer {
            desk.enclaveLost()
            environments.changedForAll()
        }
        log.info("the line to the enclave is open")
        while true {
            let message = try line.receive(.idle)
            guard message.secret == nil else { throw ChannelFault.malformed("a notice carries a secret") }
            switch try AttentionNotice(derBytes: message.header) {
            case .ask(let question):
                guard message.descriptors.count == 1 else { throw ChannelFault.malformed("a question comes without a key card") }
                desk.ask(question, keyCard: message.descriptors[0])
            case .settled(let prompt, let outcome):
                guard message.descriptors.isEmpty else { throw ChannelFault.malformed("a settlement carries a descriptor") }
                desk.settle(prompt, outcome)
            case .update(let prompt, let update):
                guard message.descriptors.isEmpty else { throw ChannelFault.malformed("an update carries a descriptor") }
                desk.update(prompt, update)
            case .changed(let person):
                guard message.descriptors.isEmpty else { throw ChannelFault.malformed("a change carries a descriptor") }
                environments.changed(person)
            }
        }
    }
}
