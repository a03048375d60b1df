internal import CVaubanLinux
import Glibc
internal import Logging
internal import VaubanLinuxHost

/// The processes of the rooms, which are kept running until a signal stops the launcher. Uses one thread, since a room dies with the thread
/// that started it.
struct RoomProcesses {
    private struct Room {
        let plan: RoomPlan
        let socket: Descriptor?
        var policy = RestartPolicy()
        var pid: Int32?
        var startedAt: UInt64 = 0
        /// When to start the room, if it does not run.
        var due: UInt64 = 0
    }

    private let folder: String
    private let signals: SignalSource
    private let log: Logger
    private var rooms: [Room]

    /// Prepares the rooms, and starts none. `folder` contains the rooms' programs; `sockets` are bound and have the names in the plans.
    init(folder: String, plans: [RoomPlan], sockets: [String: Descriptor], signals: SignalSource, log: Logger) {
        self.folder = folder
        self.signals = signals
        self.log = log
        let now = MachineClock.monotonic
        rooms = plans.map { plan in Room(plan: plan, socket: plan.socket.flatMap { sockets[$0] }, due: now + plan.delay) }
    }

    /// Starts each room that is due. A room that cannot be started, for instance because the system has no further process, counts as
    /// failed.
    mutating func startRooms() {
        for index in rooms.indices where rooms[index].pid == nil && rooms[index].due <= MachineClock.monotonic {
            rooms[index].startedAt = MachineClock.monotonic
            do throws(SystemError) {
                rooms[index].pid = try start(rooms[index])
            } catch {
                delay(index, "\(error)")
            }
        }
    }

    /// Restarts rooms that exit. Returns when a stop signal arrives.
    mutating func run() throws(SystemError) {
        while true {
            let due = rooms.filter { $0.pid == nil }.map(\.due).min()
            if try signals.wait(until: due) { return }
            for (index, ending) in reap() { delay(index, ending) }
            startRooms()
        }
    }

    /// Stops all rooms: signals them first, then kills those that still run.
    mutating func stopRooms() {
        signalRooms(SIGTERM)
        let deadline = MachineClock.monotonic + LauncherLimits.stopTime
        _ = reap()
        while rooms.contains(where: { $0.pid != nil }), MachineClock.monotonic < deadline {
            // The rooms are stopped even if reading signals fails.
            guard (try? signals.wait(until: deadline)) != nil else { break }
            _ = reap()
        }
        signalRooms(SIGKILL)
        for index in rooms.indices {
            guard let pid = rooms[index].pid else { continue }
            while waitpid(pid, nil, 0) < 0 && errno == EINTR {}
            rooms[index].pid = nil
        }
    }

    /// Signals all rooms. A process number that was not waited for still belongs to its room.
    private func signalRooms(_ signal: Int32) {
        for room in rooms {
            if let pid = room.pid { kill(pid, signal) }
        }
    }

    private func start(_ room: Room) throws(SystemError) -> Int32 {
        let path = "\(folder)/\(room.plan.program)"
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + room.plan.arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let descriptors = room.socket.map { [$0.number] } ?? []
        let pid = vauban_spawn_room(path, &words, descriptors, Int32(descriptors.count), room.plan.socket ?? "")
        return try SystemError.checkNegated(pid, "start \(path)")
    }

    /// Collects the rooms that exited.
    private mutating func reap() -> [(index: Int, ending: String)] {
        var ended: [(index: Int, ending: String)] = []
        for index in rooms.indices {
            var status: Int32 = 0
            guard let pid = rooms[index].pid, waitpid(pid, &status, WNOHANG) == pid else { continue }
            rooms[index].pid = nil
            ended.append((index, Self.ending(status)))
        }
        return ended
    }

    /// Schedules the restart of a room that is not running.
    private mutating func delay(_ index: Int, _ why: String) {
        let now = MachineClock.monotonic
        let pause = rooms[index].policy.pause(afterRunning: now - rooms[index].startedAt)
        rooms[index].due = now + pause
        log.notice("\(rooms[index].plan.program) ended", metadata: ["how": "\(why)", "pause": "\(pause / 1_000_000) ms"])
    }

    /// Returns how a process ended: the low seven bits of the status are a signal; if they are zero, the next byte is the exit status
    /// (wait(2)).
    private static func ending(_ status: Int32) -> String {
        let signal = status & 0x7F
        return signal == 0 ? "exit \(status >> 8 & 0xFF)" : "signal \(signal)"
    }
}
