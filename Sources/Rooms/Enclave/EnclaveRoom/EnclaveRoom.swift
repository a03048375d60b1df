// The room that holds keys. It only listens; the rooms that it needs keep standing connections to it.

package import Enclave
import EnclaveWire
import Dispatch
import Logging
import VaubanDER
package import VaubanLinuxHost
internal import VaubanRoomHardening
import VaubanRefusal

package final class EnclaveRoom: Sendable {
    let host: EnclaveHost
    let inbox: PasscodeInbox
    let prompts: PromptConnection
    let environmentNotifier: EnvironmentNotifier
    let witness: WitnessConnection
    let watcher: WatcherConnection
    let reader: ReaderConnection
    let leases: KeychaindConnection
    let authorizations = Authorizations()
    let connectionKeys = ConnectionKeysTable()
    let keyConnections = KeyConnections()
    let keyUses: KeyUseReporter
    /// The enclave's public key in a sealed memory file, whose creator the kernel reports to each receiver.
    let keyCard: Descriptor
    let log: Logger
    private let peers: RoomPeers
    private let vaults: Vaults
    private let accounts: Accounts
    /// The owner of each user's state; nil in user mode, where one user owns all of it.
    private let holders: StateHolders?
    private let limiter = LogLimiter()
    let vaultSweep = VaultSweep()
    /// Wakes the room when an expiration is due.
    let timer: DueTimer

    package init(host: EnclaveHost, peers: RoomPeers, accounts: Accounts = .ofThisMachine, holders: StateHolders? = nil) throws {
        self.host = host
        self.peers = peers
        self.accounts = accounts
        self.holders = holders
        log = Logger(label: "enclaved")
        vaults = Vaults(host: host)
        inbox = PasscodeInbox(clock: host.clock)
        keyCard = try SealedMemory.make(try inbox.card.encoded())
        prompts = PromptConnection(keyCard: keyCard)
        environmentNotifier = EnvironmentNotifier(prompts)
        witness = WitnessConnection()
        watcher = WatcherConnection()
        let timer = try DueTimer()
        self.timer = timer
        let lists = FingerListUpdates { [vaults, log] user, fingers in
            do { try vaults.vault(of: user).verifyEnrolledFingers(fingers) } catch { log.warning("a changed list of fingers: \(error)") }
            // The methods that are available to the user may have changed.
            timer.wake()
        }
        reader = ReaderConnection(host: host, log: log, fingerLists: lists)
        let keyUses = try KeyUseReporter()
        self.keyUses = keyUses
        leases = try KeychaindConnection { keyUses.wake() }
    }

    /// Serves until accepting fails.
    package func run(listener: Descriptor) throws(SystemError) -> Never {
        let peers = peers
        // Each room connects on behalf of many callers, and shares its connections among their owners itself.
        let connections = ConnectionTable(max: DescriptorLimit.connections(ConnectionLimits.enclaveConnectionsMax), sharing: .rooms)
        startExpirationThread(timer)
        keyUses.start(in: self)
        environmentNotifier.start()
        try ConnectionServer(listener: listener, connections: connections, admits: { peers.admits($0) }).run(
            refused: { [log, limiter] error, uid in
                guard let leftOut = limiter.line(about: uid) else { return }
                log.notice("a connection of user \(uid) ended in the handshake: \(error)", metadata: ["lines left out": "\(leftOut)"])
            },
            serve: { [self] connection in serve(connection) })
    }

    /// Serves one connection. Its greeting named the role, and its uid must be that of the role's room.
    private func serve(_ connection: AcceptedConnection) {
        guard let role = EnclaveRole(rawValue: connection.role), peers.uid(of: role) == connection.peer.uid else {
            if let leftOut = limiter.line(about: connection.peer.uid) {
                log.warning(
                    "user \(connection.peer.uid) asked for role \(connection.role), which is not theirs",
                    metadata: ["lines left out": "\(leftOut)"])
            }
            return
        }
        // A standing connection waits most of the time and serves all users, so it never gives way when descriptors run out.
        if role != .keychain, role != .authentication { connection.keepOpenWhileIdle() }
        switch role {
        case .keychain, .authentication: RequestConnection(room: self, role: role, channel: connection.channel).serve()
        case .lease: leases.serve(connection.channel)
        // Changes that happened without a connection were not reported.
        case .prompts: prompts.serve(connection.channel) { [self] in for vault in loadedVaults { environmentNotifier.notify(vault.user) } }
        case .witness: witness.serve(connection.channel)
        case .watcher: watcher.serve(connection.channel, in: self)
        case .reader: serveReader(connection.channel)
        }
    }

    /// Serves the reader. Each report, and the end of the connection, may change the available methods, so other threads check the vaults
    /// again: a user's vault may be busy with a disk that hangs.
    private func serveReader(_ channel: Channel) {
        reader.serve(channel, onReport: { timer.wake() }, onEnd: { [self] in readerHasEnded() })
    }

    /// Notifies the vaults that the reader has disconnected. Returns when all have handled that, or after the timeout of a recall, so that
    /// it precedes any key that the next reader receives.
    private func readerHasEnded() {
        let isDone = DispatchSemaphore(value: 0)
        HostThread.startOrRun { [self] in
            sweep(.readerIsGone, timeout: 0)
            ScratchMemory.scrubStack()
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + .nanoseconds(Int(EnclaveLimits.recallTimeout)))
    }

    /// Whether programs are distinguished, as in system mode.
    var distinguishesPrograms: Bool { holders != nil }

    func vault(of user: UInt32) -> Vault { vaults.vault(of: user) }

    /// Throws unless the state under the caller's uid belongs to the caller. A vault loaded for an earlier holder of the uid is locked and
    /// unloaded.
    func checkOwnership(_ uid: UInt32, name: String?) throws(Refusal) {
        // The rooms accept only users that exist on the system.
        accounts.recognize(uid, name: name)
        do throws(Refusal) { try holders?.verify(uid) } catch {
            if let vault = vaults.forget(uid) {
                try? vault.lock()
                applyEffects(of: vault)
            }
            throw error
        }
    }

    /// Returns the vault of a user if it is loaded.
    func knownVault(of user: UInt32) -> Vault? { vaults.known(user) }

    /// All loaded vaults. No other user has a key in memory.
    var loadedVaults: [Vault] { vaults.all }
}

/// The uid that each peer of this room must have.
package struct RoomPeers: Sendable {
    private let keychaind: UInt32
    private let authd: UInt32
    private let witness: UInt32
    /// The watcher's uid; nil if none is installed, so that no process can have the role.
    private let watcher: UInt32?
    private let reader: UInt32?

    package init() throws(ServiceError) {
        keychaind = try Roster.expectedUID(of: .keychaind)
        authd = try Roster.expectedUID(of: .authd)
        witness = try Roster.expectedUID(of: .witness)
        watcher = try Roster.expectedUIDIfNamed(of: .watcher)
        reader = try Roster.expectedUIDIfNamed(of: .reader)
    }

    func admits(_ uid: UInt32) -> Bool { [keychaind, authd, witness, watcher, reader].contains(uid) }

    func uid(of role: EnclaveRole) -> UInt32? {
        switch role {
        case .keychain, .lease: keychaind
        case .authentication, .prompts: authd
        case .witness: witness
        case .watcher: watcher
        case .reader: reader
        }
    }
}
