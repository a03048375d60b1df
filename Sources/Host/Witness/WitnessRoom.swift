// The one process that may look at others. It holds a line open to the enclave, answers what it is asked there, and does
// nothing else: no socket of its own, no file written, no name kept.

internal import EnclaveWire
import Glibc
package import Logging
internal import VaubanDER
package import VaubanLinuxHost

package struct WitnessRoom: Sendable {
    private let enclave: ServerAddress
    private let log: Logger

    package init(enclave: ServerAddress, log: Logger) {
        self.enclave = enclave
        self.log = log
    }

    /// Answers until the process ends, on a new line whenever one is lost.
    package func run() -> Never {
        var pause: Int32 = 0
        while true {
            let opened = MachineClock.monotonic
            do {
                try serve()
            } catch {
                log.notice("the line to the enclave is lost", metadata: ["why": "\(error)"])
            }
            let wasGood = MachineClock.monotonic - opened > WitnessLimits.goodLine
            pause = wasGood ? 0 : min(max(pause * 2, WitnessLimits.reconnectPauseMin), WitnessLimits.reconnectPauseMax)
            // Nothing can be waited for here but time: the socket is there, and who should be behind it is not.
            poll(nil, 0, pause)
        }
    }

    /// The launcher and systemd keep the socket open while the enclave starts, so connecting waits for it.
    private func serve() throws -> Never {
        let line = try enclave.connect(role: EnclaveRole.witness.rawValue)
        log.info("the line to the enclave is open")
        while true {
            let message = try line.receive(.idle)
            guard message.secret == nil, message.descriptors.count == 1 else {
                throw ChannelFault.malformed("a question comes without its process, or with more")
            }
            let question = try WitnessQuestion(derBytes: message.header)
            let executable = ExecutableWitness.identity(ofProcess: question.pid, heldBy: message.descriptors[0])
            let identity = executable.map { CallerIdentity(.own, executable: $0, chain: [$0.path]) } ?? .unseen
            try line.send(header: WitnessAnswer(number: question.number, identity: identity).encoded())
        }
    }
}
