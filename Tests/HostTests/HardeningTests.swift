import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost
import VaubanRoomHardening

/// The confinement of each room from within: a probe confines itself as the room does and attempts what the room must not do.
@Suite struct HardeningTests {
    private static let program = "\(BuiltPrograms.folder)/hardening-probe"
    static let rooms = RoomProfile.all.map(\.name)
    private let state: TestFolder
    /// A folder outside of every room's state folder.
    private let outside: TestFolder

    init() throws {
        state = try TestFolder()
        outside = try TestFolder()
    }

    /// Returns the outcome of each attempt, as the probe reports it.
    private func outcomes(
        _ room: String, without: [HardeningFeature] = [], landlock: Int? = nil, ports: String? = nil, _ attempts: [String]
    ) throws -> [String: String] {
        let older = (landlock.map { ["--landlock", "\($0)"] } ?? []) + (ports.map { ["--ports", $0] } ?? [])
        let switched = (without.isEmpty ? [] : ["--without", without.map(\.rawValue).joined(separator: ",")]) + older
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = ["confined", room, state.path] + switched + attempts
        // As the launcher starts a room: without a variable that could make the runtime report a crash through another program.
        process.environment = [:]
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == attempts.count)
        return Dictionary(
            uniqueKeysWithValues: lines.compactMap { line in line.split(separator: " ", maxSplits: 1).map(String.init) }.map {
                ($0[0], $0[1])
            })
    }

    private static func words(_ cell: String?) -> [String] { (cell ?? "").split(separator: " ").map(String.init) }

    @Test("Dangerous system calls kill the room", arguments: rooms) func dangerousCallsKill(_ room: String) throws {
        let document = try SpecDocument("hardening")
        let everywhere = try document.table("killed").flatMap { Self.words($0["Kill in every room"]) }
        let besides = try document.table("rooms").filter { $0["Room"] == room }.flatMap { Self.words($0["Kills in addition"]) }
        #expect(everywhere.count > 50 && !besides.isEmpty)
        let outcomes = try outcomes(room, (everywhere + besides).map { "call:\($0)" })
        // 254: this machine has no call of that name.
        for (attempt, outcome) in outcomes { #expect(outcome == "killed \(SIGSYS)" || outcome == "refused 254", "\(room) \(attempt)") }
        #expect(outcomes.values.filter { $0 == "refused 254" }.count < 5)
    }

    @Test("New code, programs and network calls kill the room", arguments: rooms)
    func newCodeProgramsAndNetworkCallsKill(_ room: String) throws {
        let attempts =
            (["fetcher", "sync-etcd"].contains(room) ? [] : ["network"]) + [
                "code", "shell", "call:ioctl:0:21522", "call:prctl:4:1", "call:clone:17", "call:mprotect:0:4096:4",
            ]
        for (attempt, outcome) in try outcomes(room, attempts) { #expect(outcome == "killed \(SIGSYS)", "\(room) \(attempt)") }
    }

    /// A room with a network connects over TCP, and does not listen.
    @Test("A room with a network can only connect over TCP", arguments: ["fetcher", "sync-etcd"])
    func networkIsForConnectingAlone(_ room: String) throws {
        let outcomes = try outcomes(room, ["call:socket:2:1", "call:socket:17:3", "call:listen", "read:/etc/hosts"])
        #expect(outcomes["call:socket:2:1"] == "done" && outcomes["read:/etc/hosts"] == "done")
        #expect(outcomes["call:listen"] == "killed \(SIGSYS)" && outcomes["call:socket:17:3"] == "refused \(ENOSYS)")
    }

    /// A program that runs as the user and reached its Unix sockets could have systemd start another one, outside of this confinement.
    @Test("The carrier for etcd cannot make a Unix socket, and continues") func carrierReachesNoUnixSocket() throws {
        let calls = ["call:socket:1:1", "call:socket:1:2", "call:socket:1:5", "call:socket:1:524289"]
        for (attempt, outcome) in try outcomes("sync-etcd", calls) { #expect(outcome == "refused \(EPERM)", "\(attempt)") }
        let others = ["call:socket:2:1", "call:socket:10:1", "call:socket:2:2", "call:socket:16:3"]
        for (attempt, outcome) in try outcomes("sync-etcd", others) {
            // A machine may have no IPv6.
            #expect(outcome == "done" || (attempt == "call:socket:10:1" && outcome == "refused \(EAFNOSUPPORT)"), "\(attempt)")
        }
        #expect(try outcomes("sync-etcd", ["call:socketpair:1:1", "call:pidfd_open"]).values.allSatisfy { $0 == "killed \(SIGSYS)" })
        #expect(try outcomes("sync-etcd", without: [.seccomp], ["call:socket:1:1"])["call:socket:1:1"] == "done")
    }

    /// The probe connects to port 9 of this machine.
    @Test("The carrier for etcd can connect to its named ports alone") func carrierReachesNamedPortsAlone() throws {
        let named = try outcomes("sync-etcd", ports: "9,53", ["network"])["network"]
        #expect(named == "refused \(ECONNREFUSED)")
        let others = try outcomes("sync-etcd", ports: "53,2379", ["network"])["network"]
        // Debian 12 has version 2 of Landlock, which has no rules for TCP.
        if others == named { try Test.cancel("this kernel's Landlock is older than version 4") }
        #expect(others == "refused \(EACCES)")
        #expect(try outcomes("sync-etcd", landlock: 3, ports: "53,2379", ["network"])["network"] == named)
    }

    /// ENOSYS is 38: a call that is merely unknown looks like an older kernel.
    @Test("Unknown system calls return ENOSYS", arguments: rooms) func unknownCallsReturnENOSYS(_ room: String) throws {
        let attempts = ["clone3", "symlinkat", "linkat", "mknodat", "chdir", "setxattr", "setrlimit", "splice", "inotify_init1"].map {
            "call:\($0)"
        }
        for (attempt, outcome) in try outcomes(room, attempts) { #expect(outcome == "refused \(ENOSYS)", "\(room) \(attempt)") }
    }

    @Test("Permitted system calls succeed", arguments: rooms) func permittedCallsSucceed(_ room: String) throws {
        let outcomes = try outcomes(room, ["thread", "threads", "abort", "read:/proc/self/fdinfo/2"])
        #expect(outcomes == ["thread": "done", "threads": "done", "abort": "killed \(SIGABRT)", "read:/proc/self/fdinfo/2": "done"])
    }

    /// Dispatch ends a process whose worker threads it cannot inspect, which it does when work has waited for a second.
    @Test("A room survives work that waits for a second", arguments: rooms) func backlogEndsNoRoom(_ room: String) throws {
        #expect(try outcomes(room, ["backlog"]) == ["backlog": "done"])
    }

    /// If the room holds secrets, a SecretBytes of any size is in the memory for them, otherwise on the heap. Landlock is off, since the
    /// kernel reports the kind of memory in a file that the room may not read.
    @Test("A room that holds secrets keeps them in dedicated memory", arguments: rooms)
    func secretsUseDedicatedMemory(_ room: String) throws {
        let holds = ["enclaved", "keychaind", "reader", "ssh-agent", "secret-service"].contains(room)
        if holds, !SecretArena().missing.isDisjoint(with: [.mlock]) { try Test.cancel("too little memory can be locked here") }
        for (attempt, outcome) in try outcomes(room, without: [.landlock], ["secret:32", "secret:4096", "secret:100000"]) {
            #expect(outcome == (holds ? "done" : "refused \(EINVAL)"), "\(room) \(attempt)")
        }
    }

    @Test("A room writes only in its state folder", arguments: ["enclaved", "keychaind"])
    func roomWritesOnlyInItsStateFolder(_ room: String) throws {
        let foreign = "\(outside.path)/file"
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: foreign))
        // The users and their subordinate uids: what every user may read there, and nothing else.
        #expect(try outcomes(room, ["read:/etc/passwd"])["read:/etc/passwd"] == "done")
        let inside = [
            "create:\(state.path)/x", "change:\(state.path)/x", "read:\(state.path)/x", "list:\(state.path)", "remove:\(state.path)/x",
        ]
        for attempt in inside { #expect(try outcomes(room, [attempt])[attempt] == "done", "\(room) \(attempt)") }
        let attempts = [
            "read:\(foreign)", "change:\(foreign)", "empty:\(foreign)", "remove:\(foreign)", "create:\(outside.path)/new",
            "list:\(outside.path)",
            "change:/etc/passwd", "create:/etc/vauban-new", "list:/etc", "read:/proc/self/environ", "read:/proc/1/stat", "list:/",
            "change:/dev/null",
        ]
        for (attempt, outcome) in try outcomes(room, attempts) { #expect(outcome == "refused \(EACCES)", "\(room) \(attempt)") }
        // Landlock alone, without the filter.
        for (attempt, outcome) in try outcomes(room, without: [.seccomp], attempts) {
            #expect(outcome == "refused \(EACCES)", "\(room) \(attempt)")
        }
        #expect(try String(contentsOfFile: foreign, encoding: .utf8) == "theirs")
        #expect(access("\(outside.path)/new", F_OK) != 0)
    }

    /// On kernels with an older Landlock (Debian 12 has version 2), files are just as closed, and the room keeps its own.
    @Test("Older versions of Landlock deny files as well", arguments: 1...7) func olderLandlockVersionsDenyFiles(_ version: Int) throws {
        let foreign = "\(outside.path)/file"
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: foreign))
        for attempt in ["create:\(state.path)/x", "change:\(state.path)/x", "empty:\(state.path)/x", "remove:\(state.path)/x", "thread"] {
            #expect(try outcomes("enclaved", landlock: version, [attempt])[attempt] == "done", "\(attempt)")
        }
        let attempts = [
            "read:\(foreign)", "change:\(foreign)", "empty:\(foreign)", "remove:\(foreign)", "create:\(outside.path)/new",
            "list:\(outside.path)",
        ]
        for (attempt, outcome) in try outcomes("enclaved", landlock: version, attempts) {
            #expect(outcome == "refused \(EACCES)", "\(attempt)")
        }
    }

    /// The same attempts with the protection switched off, to show that the tests above prove something.
    @Test("Without each protection, the attacks succeed") func attacksSucceedWithoutTheProtection() throws {
        let foreign = "\(outside.path)/file"
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: foreign))
        let files = ["read:\(foreign)", "change:\(foreign)", "list:\(outside.path)"]
        for (attempt, outcome) in try outcomes("enclaved", without: [.landlock], files) { #expect(outcome == "done", "\(attempt)") }
        #expect(try outcomes("enclaved", without: [.landlock], ["code"])["code"] == "killed \(SIGSYS)")
        let calls = ["code", "call:socket:1:1", "call:getppid", "call:chdir"]
        let open = try outcomes("enclaved", without: [.seccomp], calls)
        #expect(open["code"] == "done" && open["call:socket:1:1"] == "done" && open["call:chdir"] == "refused \(EFAULT)")
    }

    /// Rooms without a state folder have no call that changes a file system, for any path; the witness has no other protection there.
    @Test("A room without a state folder changes no file", arguments: ["authd", "witness", "watcher", "fetcher", "sync-etcd"])
    func roomWithoutStateFolderChangesNoFile(_ room: String)
        throws
    {
        let own = "\(state.path)/file"
        try Data("before".utf8).write(to: URL(fileURLWithPath: own))
        let attempts = ["change:\(own)", "empty:\(own)", "create:\(state.path)/new"]
        for (attempt, outcome) in try outcomes(room, attempts) { #expect(outcome == "refused \(EPERM)", "\(room) \(attempt)") }
        let calls = [
            "remove:\(own)", "call:renameat2", "call:mkdirat", "call:truncate", "call:ftruncate", "call:fchmod", "call:pwrite64",
            "call:utimensat",
            "call:fallocate",
        ]
        for (attempt, outcome) in try outcomes(room, calls) { #expect(outcome == "refused \(ENOSYS)", "\(room) \(attempt)") }
        #expect(try String(contentsOfFile: own, encoding: .utf8) == "before")
        #expect(try outcomes(room, ["read:/etc/passwd"])["read:/etc/passwd"] == (room == "watcher" ? "refused \(EACCES)" : "done"))
    }

    /// Its end of a connection may have an abstract name, as newer versions of libsystemd give it one; nothing else is allowed.
    @Test("The watcher may bind its end of a connection to an abstract name, and cannot listen")
    func watcherBindsItsEndAndCannotListen() throws {
        let place = "\(state.path)/socket"
        let outcomes = try outcomes("watcher", ["name:@vauban-test-end-\(getpid())", "name:\(place)", "call:listen", "call:socket:2:1"])
        #expect(outcomes["name:@vauban-test-end-\(getpid())"] == "done")
        #expect(outcomes["name:\(place)"] == "refused \(EACCES)" && access(place, F_OK) != 0)
        #expect(outcomes["call:listen"] == "killed \(SIGSYS)" && outcomes["call:socket:2:1"] == "killed \(SIGSYS)")
        // Without Landlock the call succeeds: a socket can be created at that path.
        #expect(try self.outcomes("watcher", without: [.landlock], ["name:\(place)"]).values.first == "done")
        let authd = try self.outcomes("authd", ["name:@vauban-test-end-\(getpid())"])
        #expect(authd.values.first == "killed \(SIGSYS)")
    }

    /// Other rooms cannot even open it; the witness, which may inspect processes, cannot seek to an address with content.
    @Test("Rooms cannot read the memory of other processes", arguments: rooms)
    func roomsCannotReadOtherProcessesMemory(_ room: String) throws {
        let other = try Waiter("/bin/cat")
        #expect(try outcomes(room, ["memory:\(other.pid)"]).values.first == "refused \(room == "witness" ? EIO : EACCES)")
        let exe = try outcomes(room, ["read:/proc/\(other.pid)/exe"]).values.first
        #expect(exe == (room == "witness" ? "done" : "refused \(EACCES)"))
    }

    @Test("Signals of a room reach no other process", arguments: rooms) func signalsReachNoOtherProcess(_ room: String) throws {
        let other = try Waiter("/bin/cat")
        #expect(try outcomes(room, ["end:\(other.pid)"]).values.first == "refused \(EPERM)")
        #expect(kill(other.pid, 0) == 0)
    }

    /// Landlock's own part, from Linux 6.12 on: even without the filter, signals and abstract addresses stay inside.
    @Test("Landlock alone confines signals, abstract addresses and TCP") func landlockKeepsSignalsAbstractAddressesAndTCPInside() throws {
        let other = try Waiter("/bin/cat")
        let name = "vauban-test-\(getpid())"
        #expect(BuiltPrograms.listenAbstract(name))
        let attempts = ["end:\(other.pid)", "abstract:\(name)", "network"]
        let confined = try outcomes("keychaind", without: [.seccomp], attempts)
        if confined["abstract:\(name)"] == "done" { try Test.cancel("this kernel's Landlock is older than version 6") }
        #expect(confined["abstract:\(name)"] == "refused \(EPERM)")
        #expect(confined["end:\(other.pid)"] == "refused \(EPERM)")
        #expect(confined["network"] == "refused \(EACCES)")
        #expect(kill(other.pid, 0) == 0)
        let free = try outcomes("keychaind", without: [.seccomp, .landlock], ["abstract:\(name)", "network"])
        #expect(free["abstract:\(name)"] == "done" && free["network"] == "refused \(ECONNREFUSED)")
    }

    @Test("The tables of Specs/hardening.md match the code") func tablesMatchTheSpecification() throws {
        let document = try SpecDocument("hardening")
        let rooms = try document.table("rooms")
        #expect(rooms.count == RoomProfile.all.count)
        for (row, profile) in zip(rooms, RoomProfile.all) {
            #expect(row["Room"] == profile.name)
            #expect(Self.words(row["Allowed groups"]) == profile.groups.map(\.name))
            #expect(Self.words(row["Kills in addition"]) == profile.killed)
        }
        let groups = Dictionary(RoomProfile.all.flatMap(\.groups).map { ($0.name, $0.calls) }, uniquingKeysWith: { one, _ in one })
        for row in try document.table("groups") { #expect(Self.words(row["Calls"]) == groups[row["Group"] ?? ""]) }
        #expect(try document.table("killed").flatMap { Self.words($0["Kill in every room"]) } == CallGroup.dangerous)
        for (row, profile) in zip(try document.table("files"), RoomProfile.all) {
            #expect(row["Room"] == profile.name)
            // The SSH agent has keys only in its memory.
            #expect(
                (row["Keeps files in"] == "its state folder")
                    == (profile.holdsSecrets && !["ssh-agent", "secret-service"].contains(profile.name)))
            if let files = profile.files { #expect(Self.words(row["Reads"]) == files.reads) }
        }
        #expect(try document.table("losses").compactMap { $0["Missing"] } == HardeningFeature.allCases.map(\.rawValue))
    }

    /// For a call that is both allowed and deadly, the library would decide which of the two applies.
    @Test("Each system call has one verdict") func callsHaveOneVerdictEach() {
        for profile in RoomProfile.all {
            let allowed = Set(profile.groups.flatMap(\.calls))
            let conditional = Set((profile.groups.flatMap(\.conditional) + CallGroup.conditions).map(\.call))
            #expect(allowed.isDisjoint(with: CallGroup.dangerous + profile.killed))
            #expect(allowed.isDisjoint(with: conditional))
            #expect(conditional.isDisjoint(with: CallGroup.dangerous + profile.killed))
        }
    }

    @Test(
        "Programs refuse to start under a tracer",
        arguments: [
            "enclaved", "rooms-testing", "keychaind", "authd", "vauban-witness", "vauban-watcher", "vauban-reader", "vauban-launcher",
        ])
    func programsRefuseToStartUnderATracer(_ program: String) throws {
        let arguments = [
            "rooms-testing": ["enclaved", "--state", state.path],
            "keychaind": ["--state", state.path, "--enclave-folder", state.path, "--enclave-uid", "0"],
            "vauban-launcher": ["--home", state.path, "--sockets", state.path],
        ]
        let run = try BuiltPrograms.run(
            Self.program, ["trace", "\(BuiltPrograms.folder)/\(program)"] + (arguments[program] ?? ["--state", state.path]))
        #expect(run.status != 0 && run.output.contains("traces this one"), "\(run)")
        // The tracer itself does no harm.
        #expect(try BuiltPrograms.run(Self.program, ["trace", "/bin/echo", "traced"]).output == "traced\n")
    }
}
