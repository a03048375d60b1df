// The room that holds keys. It listens and never dials; those whom it needs hold a line open to it.

package import Enclave
import EnclaveWire
import Foundation
import Logging
import VaubanDER
package import VaubanLinuxHost
internal import VaubanRoomHardening
import VaubanRefusal

package final class EnclaveRoom: Sendable {
    let host: EnclaveHost
    let inbox: PasscodeInbox
    let attention: PromptConnection
    let changes: EnvironmentNotifier
    let witness: WitnessConnection
    let watcher: WatcherConnection
    let reader: ReaderConnection
    let leases: LeaseSession
    let authorizations = Authorizations()
    let keyLines = KeyConnections()
    /// The enclave's public key in a memory file, whose maker the kernel names to whoever receives it.
    let keyCard: Descriptor
    let log: Logger
    private let peers: RoomPeers
    private let vaults: Vaults
    private let accounts: Accounts
    /// Whose the state of each user is; nil in user mode, where all of it is one user's.
    private let holders: StateHolders?
    private let limiter = LogLimiter()
    let sweeping = VaultSweep()
    /// Wakes the room when a vault has something to do by itself.
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
        attention = PromptConnection(keyCard: keyCard)
        changes = EnvironmentNotifier(attention)
        witness = WitnessConnection()
        watcher = WatcherConnection()
        let timer = try DueTimer()
        self.timer = timer
        let lists = FingerListUpdates { [vaults, log] user, fingers in
            do { try vaults.vault(of: user).fingersAre(fingers) } catch { log.warning("a changed list of fingers: \(error)") }
            // What the user can answer with may have changed.
            timer.wake()
        }
        reader = ReaderConnection(host: host, log: log, fingerLists: lists)
        leases = LeaseSession()
    }

    /// Serves for ever.
    package func run(listener: Descriptor) throws(SystemError) -> Never {
        let peers = peers
        // A room comes on behalf of many, and shares out its connections among their owners.
        let connections = ConnectionTable(max: DescriptorLimit.connections(ConnectionLimits.enclaveConnectionsMax), sharing: .rooms)
        startAttending(timer)
        changes.start()
        try ConnectionServer(listener: listener, connections: connections, admits: { peers.admits($0) }).run(
            refused: { [log, limiter] fault, uid in
                guard let leftOut = limiter.line(about: uid) else { return }
                log.notice("a connection of user \(uid) ended in the handshake: \(fault)", metadata: ["lines left out": "\(leftOut)"])
            },
            serve: { [self] visitor in serve(visitor) })
    }

    /// One connection, whose role its greeting named and whose uid must be that room's.
    private func serve(_ visitor: AcceptedConnection) {
        guard let role = EnclaveRole(rawValue: visitor.role), peers.uid(of: role) == visitor.peer.uid else {
            if let leftOut = limiter.line(about: visitor.peer.uid) {
                log.warning(
                    "user \(visitor.peer.uid) asked for role \(visitor.role), which is not theirs",
                    metadata: ["lines left out": "\(leftOut)"])
            }
            return
        }
        switch role {
        case .keychain, .authentication: RequestConnection(room: self, role: role, channel: visitor.channel).serve()
        case .lease: leases.serve(visitor.channel)
        // What changed while there was no line was told to nobody.
        case .attention: attention.serve(visitor.channel) { [self] in for vault in loadedVaults { changes.tell(of: vault.user) } }
        case .witness: witness.serve(visitor.channel)
        case .watcher: watcher.serve(visitor.channel, in: self)
        case .reader: serveReader(visitor.channel)
        }
    }

    /// Serves the reader. Each report, and the end of the connection, may change what users can answer with, so the vaults are looked at
    /// again, by other threads: a user's vault may be busy with a disk that does not answer.
    private func serveReader(_ channel: Channel) {
        reader.serve(channel, reported: { timer.wake() }, ended: { [self] in readerHasEnded() })
    }

    /// Tells the vaults that the reader is gone. Returns when they know it, or after the time of a recall, so that what a next reader is
    /// given to hold comes after it.
    private func readerHasEnded() {
        let isDone = DispatchSemaphore(value: 0)
        let thread = Thread { [self] in
            sweep(.readerIsGone, timeout: 0)
            ScratchMemory.scrubStack()
            isDone.signal()
        }
        thread.stackSize = 512 * 1024
        thread.start()
        _ = isDone.wait(timeout: .now() + .nanoseconds(Int(EnclaveLimits.recallTime)))
    }

    func vault(of user: UInt32) -> Vault { vaults.vault(of: user) }

    /// Returns where what is kept under the caller's number is the caller's. What was loaded for an earlier holder of the number is
    /// locked and forgotten.
    func throwIfAnothers(_ uid: UInt32) throws(Refusal) {
        // The rooms let nobody in whom the system does not know.
        accounts.recognize(uid)
        do throws(Refusal) { try holders?.verify(uid) } catch {
            if let vault = vaults.forget(uid) {
                try? vault.lock()
                attend(to: vault)
            }
            throw error
        }
    }

    /// The vault of a user who was looked at since the start.
    func knownVault(of user: UInt32) -> Vault? { vaults.known(user) }

    /// The vaults of all who were looked at since the start; nobody else has an open key.
    var loadedVaults: [Vault] { vaults.all }
}

/// Which uid each of this room's peers must have.
package struct RoomPeers: Sendable {
    private let keychaind: UInt32
    private let authd: UInt32
    private let witness: UInt32
    /// Nil where none is installed; then nobody has the role.
    private let watcher: UInt32?
    private let reader: UInt32?

    package init() throws(Service.Fault) {
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
        case .authentication, .attention: authd
        case .witness: witness
        case .watcher: watcher
        case .reader: reader
        }
    }
}
