import Glibc
internal import VaubanJSON
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanSecretText

/// Reads requests and writes replies until the browser ends. Each request is served on its own thread, a few at once, so that one that
/// waits for the user does not block the others.
final class BrowserLoop: Sendable {
    private let handler: BrowserRequestHandler
    private let output: ThreadMutex<Int32>
    private let served = ThreadMutex(Served())

    private struct Served {
        var requests = 0
        var prompts = 0
        /// Requests whose reply has not been written yet, including those that are still being served.
        var unanswered = 0
    }

    init(_ handler: BrowserRequestHandler, output: Int32) {
        self.handler = handler
        self.output = ThreadMutex(output)
    }

    /// Throws if the stream cannot be continued. When it returns, the process ends, and with it each prompt that it caused.
    func run(input: Int32) throws(NativeMessageError) {
        while let message = try NativeMessages.next(from: input) {
            do throws(BrowserRequestError) {
                start(try BrowserRequest(message))
            } catch {
                send(BrowserRequestHandler.refusal(error.number, Refusal(.badParameter, error.sentence)))
            }
        }
    }

    /// Sends the extension the reason why the stream ends.
    func end(_ error: NativeMessageError) { send(BrowserRequestHandler.refusal(nil, Refusal(.badParameter, error.description))) }

    private func start(_ request: BrowserRequest) {
        let isAdmitted = served.withLock { served in
            guard served.requests < BrowserLimits.requestsMax, served.unanswered < BrowserLimits.unansweredMax,
                !request.action.mayPrompt || served.prompts == 0
            else { return false }
            served.requests += 1
            served.unanswered += 1
            if request.action.mayPrompt { served.prompts += 1 }
            return true
        }
        guard isAdmitted else {
            let busy = Refusal(.unavailable, "Vauban is still busy with an earlier request; try again")
            return send(BrowserRequestHandler.refusal(request.number, busy))
        }
        do throws(SystemError) {
            try HostThread.start { [self] in
                let reply = serve(request)
                // Count down before replying: the browser may send the next request as soon as it has the reply.
                noteEnd(of: request)
                send(reply)
                served.withLock { $0.unanswered -= 1 }
            }
        } catch {
            noteEnd(of: request)
            served.withLock { $0.unanswered -= 1 }
            send(BrowserRequestHandler.refusal(request.number, Refusal(.unavailable, error.sentence)))
        }
    }

    private func noteEnd(of request: BrowserRequest) {
        served.withLock { served in
            served.requests -= 1
            if request.action.mayPrompt { served.prompts -= 1 }
        }
    }

    private func serve(_ request: BrowserRequest) -> SecretBox {
        handler.reply(to: request) { [self] place in
            let notice = SecretJSON()
            notice.add("id", Int(request.number))
            notice.add("waiting", PlainLine.of(place, charactersMax: BrowserLimits.nameCharactersMax))
            send(notice.finished())
        }
    }

    private func send(_ message: SecretBox) {
        let isSent = output.withLock { output in
            message.secret.count <= BrowserLimits.replyBytesMax && NativeMessages.write(message.secret, to: output)
        }
        // A browser that no longer reads replies has ended. Several threads may notice at once, and only one may call `exit`.
        if !isSent { _exit(0) }
    }
}

extension BrowserRequest.Action {
    /// Whether the request may prompt the user: only one of these is served at once.
    fileprivate var mayPrompt: Bool {
        switch self {
        case .password, .code, .replace, .unlock: true
        case .find, .generate, .save, .compare: false
        }
    }
}
