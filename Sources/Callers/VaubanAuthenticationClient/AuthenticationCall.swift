// One request and its reply on a pooled connection.

import VaubanAuthenticationWire
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel
import VaubanUserWire

extension AuthenticationClient {
    /// Sends the request and returns the reply with what accompanied it. Throws the service's refusal, or `unavailable` for a reply to
    /// another request.
    func call(
        _ request: UserRequest, waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) -> Answer {
        var answer = try callKeeping(request, waiting: waiting, cancellation: cancellation)
        answer.kept.take()?.shutDown()
        return answer
    }

    /// Does the same as `call`, but keeps the connection out of the pool, for replies whose effect lasts as long as the connection.
    func callKeeping(
        _ request: UserRequest, waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) -> Answer {
        let header: [UInt8]
        do { header = try request.encoded() } catch { throw Refusal(.internalError, "the request cannot be encoded") }
        let outcome: Outcome
        do throws(HandshakeError) {
            outcome = try exchange(header, waiting: waiting, cancellation: cancellation)
        } catch {
            throw Refusal(unreachable: error, what: "the authentication service")
        }
        let answer = try outcome.get()
        guard request.isAnswered(by: answer.answer) else { throw Self.unexpected() }
        return answer
    }

    struct Answer {
        let answer: UserAnswer
        /// Where prompts of this process would appear now, best place first.
        let promptPlaces: [String]
        let descriptors: [Descriptor]
        var kept: Channel?
    }

    private typealias Outcome = Result<Answer, Refusal>

    private func exchange(_ header: [UInt8], waiting: Waiting?, cancellation: CallCancellation?) throws(HandshakeError) -> Outcome {
        let channel = try connection.send(header, nil) { cancellation?.watch($0) }
        guard cancellation?.isCancelled != true else { throw .channel(.closed) }
        do throws(ChannelError) { return try answer(on: channel, waiting, cancellation) } catch { throw .channel(error) }
    }

    private func answer(on channel: Channel, _ waiting: Waiting?, _ cancellation: CallCancellation?) throws(ChannelError) -> Outcome {
        var wait = ReplyWait(.after(ConnectionLimits.replyTime))
        while true {
            let message = try wait.message(on: channel)
            let reply: AuthenticationReply
            do { reply = try AuthenticationReply(derBytes: message.header) } catch { throw .malformed("\(error)") }
            switch reply {
            case .waitingForUser(let place):
                wait.userIsPrompted()
                waiting?(place)
            case .queued: continue
            case .refused(let refusal):
                if refusal.reason != .malformed { connection.give(back: channel, cancellation) }
                return .failure(refusal)
            case .answered(let answer, let places):
                if case .evaluated(let result) = answer, result.authorization != nil {
                    return .success(Answer(answer: answer, promptPlaces: places, descriptors: message.descriptors, kept: channel))
                }
                connection.give(back: channel, cancellation)
                return .success(Answer(answer: answer, promptPlaces: places, descriptors: message.descriptors))
            }
        }
    }
}
