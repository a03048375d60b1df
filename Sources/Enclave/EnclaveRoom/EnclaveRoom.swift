// The room that holds keys. It listens and never dials; those whom it needs hold a line open to it.

package import Enclave
import EnclaveWire
import Logging
internal import Synchronization
import VaubanAccessPolicy
import VaubanDER
package import VaubanLinuxHost

package final class EnclaveRoom: Sendable {
    let host: EnclaveHost
    let inbox: PasscodeInbox
    let attention: AttentionLine
    let changes: ChangeTeller
    let witness: WitnessLine
    let watcher: WatcherLine
    let reader: ReaderLine
    let leases: LeaseLine
    let authorisations = Authorisations()
    let keyLines = KeyLines()
    /// The enclave's public key in a memory file, whose maker the kernel names to whoever receives it.
    let keyCard: Descriptor
    let log: Logger
    private let peers: RoomPeers
    private let vaults: Vaults
    /// Wakes the room when a vault has something to do by itself.
    let timer: DueTimer

    package init(host: EnclaveHost, peers: RoomPeers) throws {
        self.host = host
        self.peers = peers
        log = Logger(label: "enclaved")
        vaults = Vaults(host: host)
        inbox = PasscodeInbox(clock: host.clock)
        keyCard = try SealedMemory.make(try inbox.card.encoded())
        attention = AttentionLine(keyCard: keyCard)
        changes = ChangeTeller(attention)
        witness = WitnessLine()
        watcher = WatcherLine()
        let vaults = vaults
        reader = ReaderLine(host: host, log: log) { vaults.vault(of: $0) }
        timer = try DueTimer()
        leases = LeaseLine()
    }

    /// Serves for ever.
    package func run(listener: Descriptor) throws(SystemFault) -> Never {
        let peers = peers
        // A room comes on behalf of many: what bounds one person is that person's number of connections to the room.
        let limit = (total: DoorLimits.enclaveConnectionsMax, perUser: DoorLimits.enclaveConnectionsMax)
        startAttending(timer)
        changes.start()
        try Doorway(listener: listener, limit: limit, admits: { peers.admits($0) }).run(
            refused: { [log] fault, uid in log.notice("a connection of user \(uid) ended in the handshake: \(fault)") },
            serve: { [self] visitor in serve(visitor) })
    }

    /// One connection, whose role its greeting named and whose uid must be that room's.
    private func serve(_ visitor: Visitor) {
        guard let role = EnclaveRole(rawValue: visitor.role), peers.uid(of: role) == visitor.peer.uid else {
            log.warning("user \(visitor.peer.uid) asked for role \(visitor.role), which is not theirs")
            return
        }
        switch role {
        case .keychain, .authentication: RequestLine(room: self, role: role, channel: visitor.channel).serve()
        case .lease: leases.serve(visitor.channel)
        // What changed while there was no line was told to nobody.
        case .attention: attention.serve(visitor.channel) { [self] in for vault in loadedVaults { changes.tell(of: vault.person) } }
        case .witness: witness.serve(visitor.channel)
        case .watcher: watcher.serve(visitor.channel, in: self)
        case .reader: serveReader(visitor.channel)
        }
    }

    /// What the reader says, and that it is gone, may change what people can show.
    private func serveReader(_ channel: Channel) {
        reader.serve(
            channel, told: { [self] in attend(to: loadedVaults) },
            ended: { [self] in
                for vault in loadedVaults { vault.readerIsGone() }
                attend(to: loadedVaults)
            })
    }

    func vault(of person: UInt32) -> Vault { vaults.vault(of: person) }

    /// The vaults of all who were looked at since the start; nobody else has an open key.
    var loadedVaults: [Vault] { vaults.all }
}

/// The vaults that were looked at since the start.
private final class Vaults: Sendable {
    private let host: EnclaveHost
    private let list = Mutex<[UInt32: Vault]>([:])

    init(host: EnclaveHost) { self.host = host }

    var all: [Vault] { list.withLock { Array($0.values) } }

    func vault(of person: UInt32) -> Vault {
        list.withLock { vaults in
            if let vault = vaults[person] { return vault }
            let vault = Vault(person: person, host: host)
            vaults[person] = vault
            return vault
        }
    }
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
