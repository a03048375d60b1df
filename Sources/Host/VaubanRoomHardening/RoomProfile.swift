// The permissions of each room, as tables. A test compares them with Specs/hardening.md.

package import VaubanLinuxHost

package struct RoomProfile: Sendable {
    /// The files that a room may access besides its state folder.
    package struct Files: Sendable {
        /// Files, or folders of files, that it may read.
        package let reads: [String]
    }

    package let name: String
    /// The files that the room may access; nil for the one room that cannot work under Landlock.
    package let files: Files?
    package let holdsSecrets: Bool
    /// Whether it may connect to other machines.
    package let connectsOut: Bool
    /// The groups of calls that it may make, by their names in the specification.
    package let groups: [CallGroup]
    /// Calls that kill this room, besides those that kill every room.
    package let killed: [String]

    /// What a room reads of its own process: the information of descriptors, and the state of its threads. Dispatch reads the latter when
    /// work has waited for a second, and ends the process if it cannot. It uses another path, which no rule can name and which
    /// CVaubanConfinement redirects (vauban_worker_state.c).
    private static let own = ["/proc/self/fdinfo", "/proc/self/task"]

    /// The lists of the system's users and their subordinate uids, which distinguish owners. These files are replaced as a whole, so a rule
    /// must name their folder to stay valid.
    private static let users = ["/etc"]

    package static let enclaved = RoomProfile(
        name: "enclaved", files: Files(reads: own + users), holdsSecrets: true,
        groups: [.running, .streams, .looking, .keeping, .accepting], killed: ["socket", "socketpair", "connect", "bind", "pidfd_open"])

    /// SQLite reads random numbers from the device.
    package static let keychaind = RoomProfile(
        name: "keychaind", files: Files(reads: own + users + ["/dev/urandom"]), holdsSecrets: true,
        groups: [.running, .streams, .looking, .keeping, .accepting, .dialing], killed: ["bind"])

    package static let authd = RoomProfile(
        name: "authd", files: Files(reads: own + users), holdsSecrets: false,
        groups: [.running, .streams, .looking, .reading, .accepting, .dialing], killed: ["bind"])

    /// Landlock prevents a process from inspecting less restricted ones, which is this room's purpose. Instead, the call filter prevents
    /// writing, and prevents reading other processes' memory by permitting only reads from a file's beginning.
    package static let witness = RoomProfile(
        name: "witness", files: nil, holdsSecrets: false,
        groups: [.running, .streams, .looking, .reading, .dialing],
        killed: ["bind", "lseek", "pread64", "preadv", "preadv2", "sendfile", "copy_file_range"])

    /// The room connects repeatedly to the sockets of the enclave and the bus, which Landlock does not restrict, and accepts no
    /// connections.
    package static let watcher = RoomProfile(
        name: "watcher", files: Files(reads: own), holdsSecrets: false,
        groups: [.running, .streams, .looking, .reading, .dialing, .naming], killed: ["listen", "accept", "accept4", "socketpair"])

    /// The room looks up users' names.
    package static let reader = RoomProfile(
        name: "reader", files: Files(reads: own + users), holdsSecrets: true,
        groups: [.running, .streams, .looking, .keeping, .dialing, .naming], killed: ["listen", "accept", "accept4", "socketpair"])

    /// The program runs as the user, holds added keys in memory, and queries the kernel for its clients' programs. It also reads files of
    /// known hosts, which are passed to `confine`.
    package static let sshAgent = RoomProfile(
        name: "ssh-agent", files: Files(reads: own + ["/proc"]), holdsSecrets: true,
        groups: [.running, .streams, .looking, .keeping, .accepting, .dialing], killed: ["bind", "listen", "socketpair"])

    /// The program runs as the user and queries the kernel for its clients' names. Its connection to the bus is open before it is confined.
    package static let secretService = RoomProfile(
        name: "secret-service", files: Files(reads: own + ["/proc"]), holdsSecrets: true,
        groups: [.running, .streams, .looking, .keeping, .dialing], killed: ["bind", "listen", "accept", "accept4", "socketpair"])

    /// The only room with network access. It reads the lists of hosts, name servers and authorities. Only keychaind connects to it.
    package static let fetcher = RoomProfile(
        name: "fetcher", files: Files(reads: own + users), holdsSecrets: false, connectsOut: true,
        groups: [.running, .streams, .looking, .reading, .accepting, .networking], killed: ["listen", "socketpair"])

    /// The program carries sealed files to etcd as the user, and reaches no other program of the user. Its key and password open nothing
    /// else; the TLS library keeps them in ordinary memory. No process connects to it.
    package static let syncEtcd = RoomProfile(
        name: "sync-etcd", files: Files(reads: own + users), holdsSecrets: false, connectsOut: true,
        groups: [.running, .streams, .looking, .reading, .internet],
        killed: ["listen", "accept", "accept4", "socketpair", "pidfd_open"])

    package static let all = [enclaved, keychaind, authd, witness, watcher, reader, sshAgent, secretService, fetcher, syncEtcd]

    private init(
        name: String, files: Files?, holdsSecrets: Bool, connectsOut: Bool = false, groups: [CallGroup], killed: [String]
    ) {
        self.name = name
        self.files = files
        self.holdsSecrets = holdsSecrets
        self.connectsOut = connectsOut
        self.groups = groups
        self.killed = killed
    }

    package var calls: [CallRule] {
        groups.flatMap(\.rules) + CallGroup.conditions + (CallGroup.dangerous + killed).map { CallRule($0, .kill) }
    }

    /// Returns what is lost without a feature, as a sentence for the user.
    package func loss(of feature: HardeningFeature) -> String {
        switch feature {
        case .landlock: "Landlock is not available on this kernel: \(name), if it was taken over, could open other files of its user."
        case .seccomp:
            """
            The filter of system calls is not available on this kernel: \(name), if it was taken over, could start programs and use \
            the network.
            """
        case .memfdSecret:
            """
            memfd_secret is not available on this kernel (it is older than Linux 6.5, or started with secretmem.enable=0): the keys in \
            \(name)'s memory can reach a hibernation image.
            """
        case .mlock: "The limit on locked memory is too small (ulimit -l): the keys in \(name)'s memory can reach the swap space."
        }
    }
}
