// The permissions of each room, as tables. Specs/hardening.md has the same, and a test compares them.

package import VaubanLinuxHost

package struct RoomProfile: Sendable {
    /// The files that a room may access besides its state folder.
    package struct Files: Sendable {
        /// Files, or folders of files, that it may read.
        package let reads: [String]
    }

    package let name: String
    /// The files that the room may access; nil for the room that could not work under Landlock.
    package let files: Files?
    package let holdsSecrets: Bool
    /// Whether it may connect to other machines.
    package let connectsOut: Bool
    /// The groups of calls that it may make, by their names in the specification.
    package let groups: [CallGroup]
    /// Calls that kill this room, besides those that kill every room.
    package let killed: [String]

    /// The room's own state: the process of a descriptor, and the state of its threads, which Dispatch reads when work has waited for a
    /// second; without it Dispatch ends the process. Dispatch uses another path, which no rule can name (CVaubanConfinement,
    /// vauban_worker_state.c).
    private static let own = ["/proc/self/fdinfo", "/proc/self/task"]

    /// The lists of the system's users and their subordinate uids, which distinguish owners. These files are replaced as a whole, so only a
    /// rule about their folder lasts.
    private static let users = ["/etc"]

    package static let enclaved = RoomProfile(
        name: "enclaved", files: Files(reads: own + users), holdsSecrets: true,
        groups: [.running, .streams, .looking, .keeping, .accepting], killed: ["socket", "socketpair", "connect", "bind", "pidfd_open"])

    /// SQLite reads random numbers from the device.
    package static let keychaind = RoomProfile(
        name: "keychaind", files: Files(reads: own + users + ["/dev/urandom"]), holdsSecrets: true,
        groups: [.running, .streams, .looking, .keeping, .accepting, .dialling], killed: ["bind"])

    package static let authd = RoomProfile(
        name: "authd", files: Files(reads: own + users), holdsSecrets: false,
        groups: [.running, .streams, .looking, .reading, .accepting, .dialling], killed: ["bind"])

    /// The kernel does not let a process under Landlock inspect one that is less restricted, and inspecting others is this room's purpose.
    /// The call filter keeps it from writing, and from other processes' memory by permitting only reads from a file's beginning.
    package static let witness = RoomProfile(
        name: "witness", files: nil, holdsSecrets: false,
        groups: [.running, .streams, .looking, .reading, .dialling],
        killed: ["bind", "lseek", "pread64", "preadv", "preadv2", "sendfile", "copy_file_range"])

    /// It connects to the sockets of the enclave and the bus repeatedly, which Landlock does not restrict; it accepts no connections.
    package static let watcher = RoomProfile(
        name: "watcher", files: Files(reads: own), holdsSecrets: false,
        groups: [.running, .streams, .looking, .reading, .dialling, .naming], killed: ["listen", "accept", "accept4", "socketpair"])

    /// It asks the system for users' names.
    package static let reader = RoomProfile(
        name: "reader", files: Files(reads: own + users), holdsSecrets: true,
        groups: [.running, .streams, .looking, .keeping, .dialling, .naming], killed: ["listen", "accept", "accept4", "socketpair"])

    /// It runs as the user, has added keys in memory, and asks the kernel for its clients' programs. The files of known hosts that it also
    /// reads are passed when it is confined.
    package static let sshAgent = RoomProfile(
        name: "ssh-agent", files: Files(reads: own + ["/proc"]), holdsSecrets: true,
        groups: [.running, .streams, .looking, .keeping, .accepting, .dialling], killed: ["bind", "listen", "socketpair"])

    /// It runs as the user, and asks the kernel for its clients' names. Its connection to the bus is open before it is confined.
    package static let secretService = RoomProfile(
        name: "secret-service", files: Files(reads: own + ["/proc"]), holdsSecrets: true,
        groups: [.running, .streams, .looking, .keeping, .dialling], killed: ["bind", "listen", "accept", "accept4", "socketpair"])

    /// The one room with a network. It reads the lists of hosts, name servers and authorities; nobody but keychaind connects to it.
    package static let fetcher = RoomProfile(
        name: "fetcher", files: Files(reads: own + users), holdsSecrets: false, connectsOut: true,
        groups: [.running, .streams, .looking, .reading, .accepting, .networking], killed: ["listen", "socketpair"])

    /// It carries sealed files to etcd, as the user, and reaches no other program of the user. Its key and its password open nothing else,
    /// and are in its memory as the library for TLS has them. Nobody connects to it.
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
