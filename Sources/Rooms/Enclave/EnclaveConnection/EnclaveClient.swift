// How a room asks the enclave on behalf of one caller (Specs/enclave-wire.md): one connection, one loop that waits for the answer.

package import EnclaveWire
internal import VaubanDER
package import VaubanLinuxHost
internal import VaubanRefusal
package import VaubanSecretBytes
internal import VaubanUserWire

/// One caller's own connection to the enclave, made at its first request and made again once when it breaks. What the enclave believes of
/// the caller it reads from the caller's own connection, which is passed to it. Used by the thread that serves the caller and by no other.
package final class EnclaveClient {
    /// What comes before an answer.
    package enum Progress {
        /// The user is being asked at this place; said again when the place is another.
        case waitingForUser(String)
        /// The request waits for its turn.
        case queued
    }

    private let address: ServerAddress
    private let role: EnclaveRole
    /// The caller's own connection, and who the kernel says is at its other end.
    private let socket: Descriptor
    private let peer: Peer
    private var channel: Channel?
    /// Who the caller is, where that was asked. It does not change for as long as the connection lasts.
    package private(set) var identity: CallerIdentity?

    package init(address: ServerAddress, role: EnclaveRole, socket: Descriptor, peer: Peer) {
        self.address = address
        self.role = role
        self.socket = socket
        self.peer = peer
    }

    package var isConnected: Bool { channel != nil }

    /// Finds out who the caller is. To be asked before the caller is sent a word.
    @discardableResult
    package func identify() throws(EnclaveError) -> CallerIdentity {
        switch try send(.identify).reply {
        case .identity(let found):
            identity = found
            return found
        case .refused(let refusal): throw .refused(refusal)
        default: throw .notUnderstood("an answer that does not fit the request")
        }
    }

    /// Sends a request and gives the enclave's answer to it, a refusal among them. With `watchesCaller` the wait ends when the caller hangs
    /// up, as it does in any case once a user is asked or the request waits for its turn. What does not reach the caller by `onProgress`
    /// need not be told: a caller that is gone is seen by watching its connection.
    ///
    /// A connection that breaks is made again once, since the enclave may have restarted. A user is not asked twice, nor an enclave that
    /// is
    /// merely slow: what it was asked first may still wait for its turn.
    package func send(
        _ request: EnclaveRequest, secret: borrowing SecretBytes? = nil, descriptors: [Descriptor] = [], watchesCaller: Bool = false,
        onProgress: (Progress) -> Void = { _ in }
    ) throws(EnclaveError) -> EnclaveAnswer {
        let header: [UInt8]
        do { header = try request.encoded() } catch { throw .notUnderstood("a request cannot be written") }
        for isFirstTry in [true, false] {
            var wait = Wait(watched: watchesCaller ? socket : nil)
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
                case .deadline: throw .late(userWasAsked: wait.userWasAsked)
                case .closed, .system:
                    if isFirstTry, wait.allowsRepetition(of: request) { continue }
                    throw .unreachable(error)
                case .malformed, .oversized, .foreignSender: throw .unreachable(error)
                }
            }
        }
        throw .unreachable(.closed)
    }

    /// Ends the connection, which takes a prompt of it off the screen.
    package func close() {
        channel?.shutDown()
        channel = nil
    }

    // MARK: One exchange

    private struct Wait {
        var timeout = Timeout.machine
        var watched: Descriptor?
        var userWasAsked = false
        var wasQueued = false

        /// A passcode that had its turn used up its challenge.
        func allowsRepetition(of request: EnclaveRequest) -> Bool { !userWasAsked && !(wasQueued && request.role == .authentication) }
    }

    private func answer(
        to request: EnclaveRequest, on channel: Channel, _ wait: inout Wait, _ onProgress: (Progress) -> Void
    ) throws(ChannelError) -> EnclaveAnswer {
        while true {
            let answer = try EnclaveAnswer(channel.receive(wait.timeout, watching: wait.watched))
            switch answer.reply {
            case .queued:
                wait.wasQueued = true
                onProgress(.queued)
            case .waitingForUser(let place) where request.mayWaitForUser:
                wait.userWasAsked = true
                wait.timeout = .after(ConnectionLimits.userTimeout + ConnectionLimits.machineTime)
                onProgress(.waitingForUser(place))
            default: return answer
            }
            wait.watched = socket
        }
    }

    /// Why the enclave serves nobody with the caller's number, such as that what is kept under it is another's.
    private var registrationRefusal: Refusal?

    /// The connection, with the caller registered on it: the enclave reads from the caller's own socket who that is.
    private func connected() throws(ChannelError) -> Channel {
        registrationRefusal = nil
        if let channel { return channel }
        guard let process = peer.process else { throw .malformed("the caller's process is not held") }
        let made: Channel
        do throws(HandshakeError) {
            made = try address.connect(role: role.rawValue)
        } catch {
            if case .channel(let fault) = error { throw fault }
            throw .malformed("the enclave's door does not open: \(error)")
        }
        guard let register = try? EnclaveRequest.registerCaller.encoded(), let identify = try? EnclaveRequest.identify.encoded() else {
            throw .malformed("a request cannot be written")
        }
        try made.send(header: register, descriptors: [socket, process])
        switch try EnclaveAnswer(made.receive(.machine)).reply {
        case .caller(user: peer.uid, pid: Int64(peer.pid)): break
        case .refused(let refusal):
            registrationRefusal = refusal
            throw .malformed("the enclave does not serve the caller")
        default: throw .malformed("the enclave knows the caller by another name")
        }
        if let identity {
            try made.send(header: identify)
            guard case .identity(identity) = try EnclaveAnswer(made.receive(.machine)).reply else {
                registrationRefusal = Refusal(.notAllowedHere, "the caller is another by now")
                throw .malformed("the caller is another by now")
            }
        }
        channel = made
        return made
    }
}
