internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanRoomHardening

/// A queue of calls: those of one client run in order on one thread, those of different clients run concurrently.
final class CallQueue: Sendable {
    private struct Waiting: Sendable {
        let client: BusClient
        var calls: [BusCall] = []
        var isWorkedOn = false
    }

    private struct State: Sendable {
        var clients: [String: Waiting] = [:]
        /// Clients whose calls wait for a free thread.
        var turns: [String] = []
        var count = 0
        var threads = 0
    }

    private let state = Mutex(State())
    private let objects: SecretServiceObjects
    private let send: @Sendable (BusOutgoing) -> Void

    init(_ objects: SecretServiceObjects, send: @escaping @Sendable (BusOutgoing) -> Void) {
        self.objects = objects
        self.send = send
    }

    func add(_ call: BusCall, from client: BusClient) {
        enum Outcome { case full, queued, begins }
        let outcome: Outcome = state.withLock { state in
            var waiting = state.clients[client.name] ?? Waiting(client: client)
            guard state.count < SecretServiceLimits.callsMax, waiting.calls.count < SecretServiceLimits.callsOfClientMax else {
                return .full
            }
            waiting.calls.append(call)
            state.count += 1
            defer { state.clients[client.name] = waiting }
            guard !waiting.isWorkedOn else { return .queued }
            waiting.isWorkedOn = true
            guard state.threads < SecretServiceLimits.threadsMax else {
                state.turns.append(client.name)
                return .queued
            }
            state.threads += 1
            return .begins
        }
        switch outcome {
        case .full: send(.failure(call.number, BusFailure(.limitsExceeded, "Too many calls wait already.")))
        case .queued: break
        case .begins:
            HostThread.startOrRun { [self] in work(for: client.name) }
        }
    }

    /// Drops the calls of a client that left the bus.
    func end(of client: BusClient) {
        let dropped = state.withLock { state in
            let calls = state.clients[client.name]?.calls ?? []
            state.clients[client.name]?.calls = []
            state.count -= calls.count
            return calls
        }
        // The client is gone; the reply only releases the call.
        for call in dropped { send(.failure(call.number, BusFailure(.failed, ""))) }
    }

    private func work(for first: String) {
        var name: String? = first
        while let current = name {
            while let (call, client) = next(of: current) { answer(call, from: client) }
            name = state.withLock { state in
                guard !state.turns.isEmpty else {
                    state.threads -= 1
                    return nil
                }
                return state.turns.removeFirst()
            }
        }
    }

    private func next(of name: String) -> (BusCall, BusClient)? {
        state.withLock { state in
            guard var waiting = state.clients[name] else { return nil }
            guard !waiting.calls.isEmpty else {
                state.clients[name] = nil
                return nil
            }
            let call = waiting.calls.removeFirst()
            state.count -= 1
            state.clients[name] = waiting
            return (call, waiting.client)
        }
    }

    private func answer(_ call: BusCall, from client: BusClient) {
        do {
            // What waits for the user is answered later.
            if let answer = try objects.answer(call, from: client) { send(.reply(call.number, answer)) }
        } catch let failure as BusFailure {
            send(.failure(call.number, failure))
        } catch let refusal as Refusal {
            send(.failure(call.number, BusFailure(refusal)))
        } catch {
            send(.failure(call.number, BusFailure(.failed, "The call failed.")))
        }
        ScratchMemory.scrubStack()
    }
}
