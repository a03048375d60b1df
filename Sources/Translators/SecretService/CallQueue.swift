internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanRoomHardening

/// A queue of calls. The calls of one client run in order on one thread, those of different clients concurrently.
final class CallQueue: Sendable {
    private struct Waiting: Sendable {
        let client: BusClient
        var calls: [BusCall] = []
        var isWorkedOn = false
    }

    private struct State: Sendable {
        var clients: [String: Waiting] = [:]
        /// Clients whose calls wait for a free thread, or for a thread of their share.
        var turns: [BusClient] = []
        var count = 0
        var callsOfShare: [ClientShare: Int] = [:]
        var threads = 0
        /// The number of threads that serve the clients of each share.
        var threadsOfShare: [ClientShare: Int] = [:]
        /// The wake-ups of the threads that wait for a client. The last one is used first.
        var waiting: [Wakeup] = []

        mutating func add(calls number: Int, of share: ClientShare) {
            count += number
            callsOfShare.add(number, to: share)
        }

        func hasThread(for share: ClientShare) -> Bool { threadsOfShare[share, default: 0] < SecretServiceLimits.threadsOfShareMax }
    }

    private let state = ThreadMutex(State())
    private let objects: SecretServiceObjects
    private let bytes: CallBytes
    private let endLargeCall: @Sendable () -> Void
    private let send: @Sendable (BusOutgoing) -> Void

    init(
        _ objects: SecretServiceObjects, _ bytes: CallBytes, endLargeCall: @escaping @Sendable () -> Void,
        send: @escaping @Sendable (BusOutgoing) -> Void
    ) {
        self.objects = objects
        self.bytes = bytes
        self.endLargeCall = endLargeCall
        self.send = send
    }

    func add(_ call: BusCall, from client: BusClient) {
        enum Outcome { case full, queued, begins, wakes(Wakeup) }
        guard bytes.take(call, for: client.share) else {
            return send(.failure(call.number, BusError(.limitsExceeded, "The calls that wait are too large together; try again")))
        }
        let outcome: Outcome = state.withLock { state in
            var waiting = state.clients[client.name] ?? Waiting(client: client)
            guard state.count < SecretServiceLimits.callsMax, waiting.calls.count < SecretServiceLimits.callsOfClientMax,
                state.callsOfShare[client.share, default: 0] < SecretServiceLimits.callsOfShareMax
            else { return .full }
            waiting.calls.append(call)
            state.add(calls: 1, of: client.share)
            defer { state.clients[client.name] = waiting }
            guard !waiting.isWorkedOn else { return .queued }
            waiting.isWorkedOn = true
            guard state.hasThread(for: client.share) else {
                state.turns.append(client)
                return .queued
            }
            if let wakeup = state.waiting.popLast() {
                state.turns.append(client)
                return .wakes(wakeup)
            }
            guard state.threads < SecretServiceLimits.threadsMax else {
                state.turns.append(client)
                return .queued
            }
            state.threads += 1
            state.threadsOfShare.add(1, to: client.share)
            return .begins
        }
        switch outcome {
        case .full: send(.failure(call.number, BusError(.limitsExceeded, "Too many calls wait already")))
        case .queued: break
        case .wakes(let wakeup): wakeup.signal()
        case .begins:
            do throws(SystemError) {
                try HostThread.start { [self] in work(for: client) }
            } catch {
                // The bus thread must not run the call, which may wait for the user.
                refuse(client)
            }
        }
    }

    /// Refuses the calls of a client for which there is no thread.
    private func refuse(_ client: BusClient) {
        let refused = state.withLock { state in
            state.threads -= 1
            state.threadsOfShare.add(-1, to: client.share)
            let calls = state.clients.removeValue(forKey: client.name)?.calls ?? []
            state.add(calls: -calls.count, of: client.share)
            return calls
        }
        for call in refused { send(.failure(call.number, BusError(.limitsExceeded, "The system has no thread for this call"))) }
    }

    /// Drops the calls of a client that has left the bus.
    func end(of client: BusClient) {
        let dropped = state.withLock { state in
            let calls = state.clients[client.name]?.calls ?? []
            state.clients[client.name]?.calls = []
            state.add(calls: -calls.count, of: client.share)
            return calls
        }
        // The client has left, so the reply only releases the call's resources.
        for call in dropped { send(.failure(call.number, BusError(.failed, ""))) }
    }

    /// Serves the calls of a client, then those of other clients.
    private func work(for first: BusClient) {
        var turn: BusClient? = first
        var wakeup: Wakeup?
        while let client = turn {
            while let isLarge = answerNext(of: client) { if isLarge { endLargeCall() } }
            state.withLock { $0.threadsOfShare.add(-1, to: client.share) }
            turn = nextTurn(&wakeup)
        }
    }

    /// Returns the next client whose calls wait for a thread. If there is none, a few threads stay and wait, since starting a thread takes
    /// longer than waking one; nil ends the others.
    private func nextTurn(_ wakeup: inout Wakeup?) -> BusClient? {
        while true {
            let (turn, waits): (BusClient?, Bool) = state.withLock { state in
                // Clients earlier in the queue wait for other threads of their share.
                if let index = state.turns.firstIndex(where: { state.hasThread(for: $0.share) }) {
                    let next = state.turns.remove(at: index)
                    state.threadsOfShare.add(1, to: next.share)
                    return (next, false)
                }
                if state.waiting.count < SecretServiceLimits.threadsKept, let own = wakeup ?? (try? Wakeup()) {
                    wakeup = own
                    state.waiting.append(own)
                    return (nil, true)
                }
                state.threads -= 1
                return (nil, false)
            }
            guard waits, let wakeup else { return turn }
            _ = wakeup.wait(until: .max)
        }
    }

    private func next(of client: BusClient) -> BusCall? {
        state.withLock { state in
            guard var waiting = state.clients[client.name] else { return nil }
            guard !waiting.calls.isEmpty else {
                state.clients[client.name] = nil
                return nil
            }
            let call = waiting.calls.removeFirst()
            state.add(calls: -1, of: client.share)
            state.clients[client.name] = waiting
            return call
        }
    }

    /// Answers the next call of a client, if any. Returns whether the call or its reply was large, when both are freed.
    private func answerNext(of client: BusClient) -> Bool? {
        guard let call = next(of: client) else { return nil }
        var isLarge = call.bytes >= SecretServiceLimits.largeCallBytesMin
        do {
            // A call that waits for the user gets its reply later.
            if let answer = try objects.answer(call, from: client) {
                isLarge = isLarge || MessageSize(of: answer).bytes >= SecretServiceLimits.largeCallBytesMin
                send(.reply(call.number, answer))
            }
        } catch let failure as BusError {
            send(.failure(call.number, failure))
        } catch let refusal as Refusal {
            send(.failure(call.number, BusError(refusal)))
        } catch {
            send(.failure(call.number, BusError(.failed, "The call failed")))
        }
        ScratchMemory.scrubStack()
        return isLarge
    }
}

extension Dictionary where Value == Int {
    /// Adds to a count, and removes the entry when the count reaches zero.
    fileprivate mutating func add(_ number: Int, to key: Key) {
        let count = self[key, default: 0] + number
        self[key] = count == 0 ? nil : count
    }
}
