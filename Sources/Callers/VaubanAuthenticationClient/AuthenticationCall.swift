// One request and its answer on a pooled connection.

import VaubanAccessPolicy
import VaubanAuthenticationWire
import VaubanDER
import VaubanLinuxHost

extension AuthenticationClient {
    /// Sends the request and answers its reply with what came beside it. A refusal is thrown.
    func call(
        _ request: AuthenticationRequest, _ waiting: Waiting? = nil, _ cancellation: CallCancellation? = nil
    ) throws(Refusal) -> (reply: AuthenticationReply, [Descriptor]) {
        let answer = try callKeeping(request, waiting, cancellation)
        if let kept = answer.kept { kept.shutDown() }
        return (answer.reply, answer.descriptors)
    }

    /// The same; the connection stays with the caller where what it answered lasts as long as it.
    func callKeeping(
        _ request: AuthenticationRequest, _ waiting: Waiting? = nil, _ cancellation: CallCancellation? = nil
    ) throws(Refusal) -> Answer {
        let header: [UInt8]
        do { header = try request.encoded() } catch { throw Refusal(.internalFault, "the request cannot be encoded") }
        let outcome: Outcome
        do throws(HandshakeFault) {
            outcome = try exchange(header, waiting, cancellation)
        } catch {
            throw Refusal(unreachable: error, what: "the authentication service")
        }
        return try outcome.get()
    }

    struct Answer {
        let reply: AuthenticationReply
        let descriptors: [Descriptor]
        var kept: Channel?
    }

    private typealias Outcome = Result<Answer, Refusal>

    private func exchange(_ header: [UInt8], _ waiting: Waiting?, _ cancellation: CallCancellation?) throws(HandshakeFault) -> Outcome {
        let channel = try connection.send(header, nil) { cancellation?.watch($0) }
        guard cancellation?.isCancelled != true else { throw .channel(.closed) }
        do throws(ChannelFault) { return try answer(on: channel, waiting, cancellation) } catch { throw .channel(error) }
    }

    private func answer(on channel: Channel, _ waiting: Waiting?, _ cancellation: CallCancellation?) throws(ChannelFault) -> Outcome {
        var patience = Patience.machine
        while true {
            let message = try channel.receive(patience)
            let reply: AuthenticationReply
            do { reply = try AuthenticationReply(derBytes: message.header) } catch { throw .malformed("\(error)") }
            switch reply {
            case .waitingForPerson(let place):
                patience = .for_(DoorLimits.personTime + DoorLimits.machineTime)
                waiting?(place)
            case .queued: continue
            case .refused(let refusal):
                if refusal.reason != .malformed { connection.give(back: channel, cancellation) }
                return .failure(refusal)
            case .evaluated(let result) where result.authorisation != nil:
                return .success(Answer(reply: reply, descriptors: message.descriptors, kept: channel))
            default:
                connection.give(back: channel, cancellation)
                return .success(Answer(reply: reply, descriptors: message.descriptors))
            }
        }
    }
}
