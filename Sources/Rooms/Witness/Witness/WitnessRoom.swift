// The one process that may inspect others. It keeps a connection to the enclave and answers its requests. It has no socket, writes no file
// and stores no names.

internal import EnclaveWire
package import Logging
internal import VaubanDER
package import VaubanLinuxHost

package struct WitnessRoom: Sendable {
    private let enclave: ServerAddress
    private let log: Logger
    private let witness: CallerWitness
    private let queue = RequestQueue(
        limit: (WitnessLimits.workersMax, WitnessLimits.workersPerUserMax, WitnessLimits.waitingPerUserMax))

    package init(enclave: ServerAddress, log: Logger, witness: CallerWitness = CallerWitness()) {
        self.enclave = enclave
        self.log = log
        self.witness = witness
    }

    /// Answers until the process ends, and connects again whenever a connection is lost.
    package func run() -> Never {
        StandingConnection(enclave, role: EnclaveRole.witness.rawValue).keep(
            serve: { try serve($0) }, lost: { log.notice("the connection to the enclave is lost", metadata: ["why": "\($0)"]) })
    }

    private func serve(_ connection: Channel) throws -> Never {
        log.info("the connection to the enclave is open")
        while true {
            let message = try connection.receive(.idle)
            guard message.secret == nil, message.descriptors.count == 1 else {
                throw ChannelError.malformed("a request has no process descriptor, or more than one")
            }
            answer(try WitnessRequest(derBytes: message.header), about: message.descriptors[0], on: connection)
        }
    }

    /// Replies on this connection, whenever the result is ready. If the connection is lost by then, nobody waits for the reply.
    private func answer(_ request: WitnessRequest, about process: Descriptor, on connection: Channel) {
        let asked = MachineClock.monotonic
        let answer = { @Sendable (identity: CallerIdentity) in
            guard let header = try? WitnessAnswer(number: request.number, identity: identity).encoded() else { return }
            try? connection.send(header: header)
        }
        // The owner only decides the place in the queue: a reused number is detected before anything is reported.
        let isTaken = ProcessStatus(of: Int32(request.pid)).map { status in
            queue.take(of: Accounts.ofThisMachine.owner(of: status.user)) { [witness] in
                let isLate = MachineClock.monotonic - asked > WitnessLimits.requestTimeout
                answer(isLate ? .unseen : witness.identity(ofProcess: request.pid, heldBy: process))
            }
        }
        if isTaken != true { answer(.unseen) }
    }
}
