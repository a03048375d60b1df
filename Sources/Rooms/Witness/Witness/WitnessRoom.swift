// The one process that may look at others. It holds a line open to the enclave, answers what it is asked there, and does
// nothing else: no socket of its own, no file written, no name kept.

internal import EnclaveWire
package import Logging
internal import VaubanDER
package import VaubanLinuxHost

package struct WitnessRoom: Sendable {
    private let enclave: ServerAddress
    private let log: Logger
    private let witness: CallerWitness
    private let desk = QuestionQueue(
        limit: (WitnessLimits.workersMax, WitnessLimits.workersPerUserMax, WitnessLimits.waitingPerUserMax))

    package init(enclave: ServerAddress, log: Logger, witness: CallerWitness = CallerWitness()) {
        self.enclave = enclave
        self.log = log
        self.witness = witness
    }

    /// Answers until the process ends, on a new line whenever one is lost.
    package func run() -> Never {
        StandingConnection(enclave, role: EnclaveRole.witness.rawValue).keep(
            serve: { try serve($0) }, lost: { log.notice("the line to the enclave is lost", metadata: ["why": "\($0)"]) })
    }

    private func serve(_ line: Channel) throws -> Never {
        log.info("the line to the enclave is open")
        while true {
            let message = try line.receive(.idle)
            guard message.secret == nil, message.descriptors.count == 1 else {
                throw ChannelError.malformed("a question comes without its process, or with more")
            }
            answer(try WitnessQuestion(derBytes: message.header), about: message.descriptors[0], on: line)
        }
    }

    /// On this line, whenever that is; where it is lost by then, nobody waits for the answer.
    private func answer(_ question: WitnessQuestion, about process: Descriptor, on line: Channel) {
        let asked = MachineClock.monotonic
        let answer = { @Sendable (identity: CallerIdentity) in
            guard let header = try? WitnessAnswer(number: question.number, identity: identity).encoded() else { return }
            try? line.send(header: header)
        }
        // The owner only for a place in the queue: a number that is another's is found out before anything is told.
        let isTaken = ProcessStatus(of: Int32(question.pid)).map { status in
            desk.take(of: Accounts.ofThisMachine.owner(of: status.user)) { [witness] in
                let isLate = MachineClock.monotonic - asked > WitnessLimits.questionTime
                answer(isLate ? .unseen : witness.identity(ofProcess: question.pid, heldBy: process))
            }
        }
        if isTaken != true { answer(.unseen) }
    }
}
