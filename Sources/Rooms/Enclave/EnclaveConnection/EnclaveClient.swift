// The connection with which a room sends requests to the enclave on behalf of one caller (Specs/enclave-wire.md).

package import EnclaveWire
internal import VaubanDER
package import VaubanLinuxHost
internal import VaubanRefusal
package import VaubanSecretBytes
internal import VaubanUserWire

/// A connection to the enclave on behalf of one caller, made at the first request and once more if it breaks. The enclave reads the
/// caller's credentials from the caller's own connection, which is passed to it. Only the thread that serves the caller uses this.
package final class EnclaveClient {
    /// What precedes a reply.
    package enum Progress {
        /// The user is being prompted at this place. Reported again if the place changes.
        case waitingForUser(String)
        /// The request is queued.
        case queued
    }

    private let address: ServerAddress
    private let role: EnclaveRole
    /// The caller's own connection, and the peer that the kernel reports for it.
    private let socket: Descriptor
    private let peer: Peer
    /// Where the name service's answer about the caller's uid is kept; nil in user mode.
    private let accounts: Accounts?
    private var channel: Channel?
    /// The caller's identity, once it was requested. It does not change while the connection lasts.
    package private(set) var identity: CallerIdentity?

    package init(address: ServerAddress, role: EnclaveRole, socket: Descriptor, peer: Peer, accounts: Accounts? = nil) {
        self.address = address
        self.role = role
        self.socket = socket
        self.peer = peer
        self.accounts = accounts
    }

    package var isConnected: Bool { channel != nil }
    /// The number of connections that were made so far.
    package private(set) var connections = 0

    /// Requests the caller's identity. Call it before anything is sent to the caller.
    @discardableResult
    package func identify() throws(EnclaveError) -> CallerIdentity {
        switch try send(.identify).reply {
        case .identity(let found):
            identity = found
            return found
        case .refused(let refusal): throw .refused(refusal)
        default: throw .unexpectedReply("the reply does not match the request")
        }
    }

    /// Sends a request and returns the reply, which may be a refusal. With `watchesCaller` the wait ends when the caller hangs up; once the
    /// user is prompted or the request is queued, it always does. `onProgress` need not report failures to reach the caller: watching the
    /// caller's connection detects them.
    ///
    /// Reconnects once if the connection breaks, since the enclave may have restarted. A request is not repeated after the user was
    /// prompted, nor to an enclave that is merely slow: the first one may still be queued.
    package func send(
        _ request: EnclaveRequest, secret: borrowing SecretBytes? = nil, descriptors: [Descriptor] = [], watchesCaller: Bool = false,
        onProgress: (Progress) -> Void = { _ in }
    ) throws(EnclaveError) -> EnclaveReplyMessage {
        let header: [UInt8]
        do { header = try request.encoded() } catch { throw .unexpectedReply("the request cannot be encoded") }
        for isFirstTry in [true, false] {
            var wait = Wait(reply: ReplyWait(watching: watchesCaller ? socket : nil))
            do throws(ChannelError) {
                let channel = try connected()
                switch secret {
                case .some(let secret): try channel.send(header: header, secret: secret, descriptors: descriptors)
                case .none: try channel.send(header: header, descriptors: descriptors)
                }
                return try answer(to: request, on: channel, &wait, onProgress)
            } catch {
                close()
                if let refusal = registrationRefusal { throw .refused(refusal) }
                switch error {
                case .watchedEnded: throw .callerGone
                case .deadline: throw .late(userWasPrompted: wait.reply.userWasPrompted)
                case .closed, .system:
                    if isFirstTry, wait.allowsRepetition(of: request) { continue }
                    throw .unreachable(error)
                case .malformed, .oversized, .foreignSender: throw .unreachable(error)
                }
            }
        }
        throw .unreachable(.closed)
    }

    /// Ends the connection, which also withdraws its prompt.
    package func close() {
        channel?.shutDown()
        channel = nil
    }

    // MARK: One exchange

    private struct Wait {
        var reply: ReplyWait
        var wasQueued = false

        /// A passcode that had its turn has consumed its challenge.
        func allowsRepetition(of request: EnclaveRequest) -> Bool {
            !reply.userWasPrompted && !(wasQueued && request.role == .authentication)
        }
    }

    private func answer(
        to request: EnclaveRequest, on channel: Channel, _ wait: inout Wait, _ onProgress: (Progress) -> Void
    ) throws(ChannelError) -> EnclaveReplyMessage {
        while true {
            let answer = try EnclaveReplyMessage(wait.reply.message(on: channel))
            switch answer.reply {
            case .queued:
                wait.wasQueued = true
                onProgress(.queued)
            case .waitingForUser(let place) where request.mayWaitForUser:
                wait.reply.userIsPrompted()
                onProgress(.waitingForUser(place))
            default: return answer
            }
            wait.reply.watched = socket
        }
    }

    /// Why the enclave refuses to serve the caller's uid, such as state that belongs to an earlier holder of the uid.
    private var registrationRefusal: Refusal?

    /// Returns the connection, after registering the caller on it: the enclave reads the caller's credentials from the caller's socket.
    private func connected() throws(ChannelError) -> Channel {
        registrationRefusal = nil
        if let channel { return channel }
        guard let process = peer.process else { throw .malformed("the caller's process is not held") }
        let made: Channel
        do throws(HandshakeError) {
            made = try address.connect(role: role.rawValue)
        } catch {
            switch error {
            case .channel(let channelError): throw channelError
            case .system(let systemError): throw .system(systemError)
            case .wrongServer, .unproven, .noKeychain: throw .malformed("the enclave's socket cannot be used: \(error)")
            }
        }
        let registration = EnclaveRequest.registerCaller(name: accounts?.confirmedName(of: peer.uid))
        guard let register = try? registration.encoded(), let identify = try? EnclaveRequest.identify.encoded() else {
            throw .malformed("a request cannot be encoded")
        }
        try made.send(header: register, descriptors: [socket, process])
        switch try EnclaveReplyMessage(made.receive(.machine)).reply {
        case .caller(user: peer.uid, pid: Int64(peer.pid)): break
        case .refused(let refusal):
            registrationRefusal = refusal
            throw .malformed("the enclave does not serve the caller")
        default: throw .malformed("the enclave sees another caller")
        }
        if let identity {
            try made.send(header: identify)
            // The program's parents may have ended meanwhile.
            guard case .identity(let found) = try EnclaveReplyMessage(made.receive(.machine)).reply,
                found.withoutParents == identity.withoutParents
            else {
                registrationRefusal = Refusal(.notAllowedHere, "The caller has changed")
                throw .malformed("the caller has changed")
            }
        }
        channel = made
        connections += 1
        return made
    }
}
