internal import Synchronization
internal import VaubanAuthenticationClient
internal import VaubanLinuxHost

/// An open wallet of one client.
struct WalletHandle: Sendable {
    let number: Int32
    let client: BusClient
    let collection: String
    /// The name with which the client opened the wallet.
    let wallet: String
    /// The name that the application gave for itself, for display.
    let application: String
    /// How many times the client has opened the wallet.
    var count = 1
    /// When the call that uses the handle stops waiting for its reply, in nanoseconds of the monotonic clock.
    var deadline: UInt64?
}

/// The open wallets of all clients. A handle belongs to the client that opened it, and ends when that client leaves or the keychain locks.
final class WalletHandles: Sendable {
    private struct State {
        var handles: [Int32: WalletHandle] = [:]
        /// Receives notices of locks while a wallet is open.
        var listener: EnvironmentListener?
    }

    private let state = Mutex(State())
    private let service: Service
    private let keychainLock: KeychainLock
    private let listeners: Listeners
    private let access: ItemAccess
    private let send: @Sendable (BusOutgoing) -> Void

    init(
        service: Service, lock keychainLock: KeychainLock, listeners: Listeners, access: ItemAccess,
        send: @escaping @Sendable (BusOutgoing) -> Void
    ) {
        self.service = service
        self.keychainLock = keychainLock
        self.listeners = listeners
        self.access = access
        self.send = send
    }

    /// Opens a wallet for a client, and returns its handle. A client that has the wallet open gets the same handle again.
    func open(_ wallet: String, collection: String, application: String, for client: BusClient) throws -> Int32 {
        let service = service
        let listener = try EnvironmentListener(service: { service }, onChange: { [weak self] in self?.checkLockState($0) ?? false })
        let random = try Entropy.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let number = try state.withLock { state throws(SystemError) -> Int32? in
            let own = state.handles.values.filter { $0.client === client }
            if let same = own.first(where: { $0.collection == collection && $0.wallet == wallet && $0.application == application }) {
                state.handles[same.number]?.count += 1
                return same.number
            }
            guard state.handles.count < SecretServiceLimits.handlesMax, own.count < SecretServiceLimits.handlesOfClientMax,
                state.handles.values.count(where: { $0.client.share == client.share }) < SecretServiceLimits.handlesOfShareMax
            else { return nil }
            // Started before it is stored, so that no other handle relies on a listener that could not start.
            if state.listener == nil { try listener.start() }
            state.listener = state.listener ?? listener
            var number = Int32(random >> 1)
            while number == 0 || state.handles[number] != nil { number = number == .max ? 1 : number + 1 }
            state.handles[number] = WalletHandle(
                number: number, client: client, collection: collection, wallet: wallet, application: application)
            return number
        }
        guard let number else { throw BusError(.limitsExceeded, "Too many wallets are open") }
        // The client may have left meanwhile, and nothing would end its handles later.
        if client.cancellation.isCancelled { end(of: client.name) }
        return number
    }

    /// Returns a client's open wallet. Throws for the handles of other clients, as for handles that do not exist.
    func handle(_ number: Int32?, of client: BusClient) throws(BusError) -> WalletHandle {
        let found = number.flatMap { number in state.withLock { $0.handles[number] } }
        guard let found, found.client === client else { throw BusError(.invalidArguments, "This handle is not open") }
        return found
    }

    func all(where isWanted: (WalletHandle) -> Bool) -> [WalletHandle] { state.withLock { $0.handles.values.filter(isWanted) } }

    /// Undoes one opening of a wallet by its client. Returns whether the wallet is now closed.
    func release(_ handle: WalletHandle) -> Bool {
        let isLast = state.withLock { state in
            guard let count = state.handles[handle.number]?.count, count > 1 else { return true }
            state.handles[handle.number]?.count = count - 1
            return false
        }
        if isLast { close { $0.number == handle.number } }
        return isLast
    }

    /// Closes wallets, and notifies their clients. Returns the handles that were closed.
    @discardableResult
    func close(where isWanted: (WalletHandle) -> Bool) -> [WalletHandle] {
        let (closed, left) = removed(where: isWanted)
        for handle in closed {
            for path in WalletInterface.paths {
                for member in ["walletClosed", "walletClosedId"] {
                    send(
                        .signal(
                            path: path, interface: WalletInterface.name, member: member, [.signed32(handle.number)],
                            destination: handle.client.name))
                }
            }
        }
        for wallet in Set(closed.map(\.wallet)).subtracting(left.map(\.wallet)) {
            announce("walletClosed", [.string(wallet)], to: closed.filter { $0.wallet == wallet }.map(\.client))
        }
        if !closed.isEmpty, left.isEmpty { announce("allWalletsClosed", []) }
        return closed
    }

    /// Ends the handles of a client that left the bus.
    func end(of client: String) { close { $0.client.name == client } }

    /// Notifies all clients of a change. It contains names of wallets and applications, so of the sandboxed applications only those in
    /// `users` get it.
    func announce(_ member: String, _ values: [BusValue], to users: [BusClient] = []) {
        guard !values.isEmpty else {
            for path in WalletInterface.paths { send(.signal(path: path, interface: WalletInterface.name, member: member, [])) }
            return
        }
        for client in listeners.all where !access.isLimited(client) || users.contains(where: { $0 === client }) {
            for path in WalletInterface.paths {
                send(.signal(path: path, interface: WalletInterface.name, member: member, values, destination: client.name))
            }
        }
    }

    private func removed(where isWanted: (WalletHandle) -> Bool) -> (closed: [WalletHandle], left: [WalletHandle]) {
        let (closed, left, listener) = state.withLock { state -> ([WalletHandle], [WalletHandle], EnvironmentListener?) in
            let closed = state.handles.values.filter(isWanted)
            for handle in closed { state.handles[handle.number] = nil }
            guard state.handles.isEmpty else { return (closed, Array(state.handles.values), nil) }
            defer { state.listener = nil }
            return (closed, [], state.listener)
        }
        listener?.end()
        return (closed, left)
    }

    /// Closes all wallets if the keychain is locked.
    private func checkLockState(_ isReachable: Bool) -> Bool {
        guard isReachable, let isLocked = try? keychainLock.isLocked else { return false }
        if isLocked { close { _ in true } }
        return true
    }
}
