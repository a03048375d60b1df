// Starts the rooms in user mode, as systemd does in system mode: opens the folder, takes its lock, binds the sockets, then starts the
// rooms. It holds none of their secrets.

import Glibc
internal import Logging
internal import VaubanLinuxHost

package enum LauncherProgram {
    /// `EX_USAGE` and `EX_TEMPFAIL` of sysexits.h.
    private static let usageExit: Int32 = 64
    private static let alreadyRunningExit: Int32 = 75

    /// Runs the program. The installed launcher starts the installed programs and no others.
    package static func main(_ programs: RoomPrograms = .installed) -> Never {
        let log = Logger(label: "vauban-launcher", factory: { StreamLogHandler.standardError(label: $0) })
        guard let options = LauncherOptions(Array(CommandLine.arguments.dropFirst())) else {
            say(LauncherOptions.usage)
            exit(usageExit)
        }
        do {
            umask(0o077)
            try ProcessHardening.apply()
            var ready = options.readyDescriptor.map { Descriptor($0) }
            if let ready { _ = fcntl(ready.number, F_SETFD, FD_CLOEXEC) }
            if isAbandoned(ready) { exit(0) }
            // A folder that has meanwhile been deleted stays deleted: a program starts the service only for a folder that is set up.
            let home = try PrivateFolder(path: options.home, creating: ready == nil)
            switch try takeLock(home) {
            case .taken(let lock):
                if isAbandoned(ready) { exit(0) }
                try serve(options, programs, home: home, lock: lock, ready: &ready, log: log)
                exit(0)
            case .heldBy(let other):
                exit(leaveFolder(to: other, options: options, ready: ready))
            }
        } catch {
            say("vauban-launcher: \(error)")
            exit(1)
        }
    }

    private static func serve(
        _ options: LauncherOptions, _ programs: RoomPrograms, home: PrivateFolder, lock: Descriptor, ready: inout Descriptor?, log: Logger
    ) throws {
        if options.readyDescriptor != nil { try RoomLog.takeStandardError(in: home) }
        try LauncherRecord.ofSelf(sockets: options.sockets, isReady: false).write(to: lock)
        // The lock ends with the process, and the file's content counts only while the lock is held, so a failure is harmless.
        defer { try? LauncherRecord.erase(in: lock) }
        let folder = try programFolder()
        let plans = RoomPlan.all(programs, home: options.home, sockets: options.sockets, uid: geteuid())
        for plan in plans { try SystemError.check(access("\(folder)/\(plan.program)", X_OK), "run \(folder)/\(plan.program)") }
        for name in RoomPlan.stateFolders { _ = try home.subfolder(name, creating: true) }
        let socketFolder = try PrivateFolder(path: options.sockets, creating: true)
        let signals = try SignalSource()
        var sockets: [String: Descriptor] = [:]
        defer { for name in sockets.keys { socketFolder.remove(name) } }
        for name in plans.compactMap(\.socket) { sockets[name] = try socketFolder.bindSocket(name, mode: 0o600) }
        try SystemError.check(chdir("/"), "leave the working folder")
        var processes = RoomProcesses(folder: folder, plans: plans, sockets: sockets, signals: signals, log: log)
        defer { processes.stopRooms() }
        processes.startRooms()
        try LauncherRecord.ofSelf(sockets: options.sockets, isReady: true).write(to: lock)
        if let ready = ready.take() { announce(ready) }
        log.info("the rooms are running", metadata: ["home": "\(options.home)"])
        try processes.run()
        log.info("asked to stop")
        try LauncherRecord.ofSelf(sockets: options.sockets, isReady: false).write(to: lock)
    }

    // MARK: The second launcher

    private enum Lock {
        case taken(Descriptor)
        case heldBy(LauncherRecord?)
    }

    /// Takes the folder's lock. Waits while another launcher holds it and is not ready; that launcher either becomes ready or stops.
    private static func takeLock(_ home: PrivateFolder) throws(SystemError) -> Lock {
        let deadline = MachineClock.monotonic + ConnectionLimits.machineTime
        while true {
            if let lock = try home.lock(LauncherControl.lockName) { return .taken(lock) }
            let other = LauncherControl.running(home: home.path)
            if other?.isReady == true || MachineClock.monotonic > deadline { return .heldBy(other) }
            // The kernel announces no writes to the lock file, so this checks again after a pause.
            poll(nil, 0, LauncherLimits.checkPause)
        }
    }

    /// Leaves the folder to the launcher that already runs. If that launcher uses the expected sockets, the waiting process gets its byte;
    /// otherwise prints an error.
    private static func leaveFolder(to other: LauncherRecord?, options: LauncherOptions, ready: Descriptor?) -> Int32 {
        if let ready, let other, other.isReady, other.sockets == options.sockets {
            announce(ready)
            return 0
        }
        say("vauban-launcher: already running for \(options.home)\(other.map { ", with its sockets in \($0.sockets)" } ?? "")")
        return alreadyRunningExit
    }

    // MARK: Helpers

    /// Whether nobody waits for the service any more: the process that started this one has ended or given up, and has left its end of the
    /// pipe to no child. Whoever ended it may have run `vauban stop` or deleted the folder meanwhile. Once the lock is taken, `vauban stop`
    /// finds this process.
    private static func isAbandoned(_ ready: Descriptor?) -> Bool {
        guard let ready else { return false }
        var poller = pollfd(fd: ready.number, events: 0, revents: 0)
        return poll(&poller, 1, 0) > 0 && poller.revents & Int16(POLLERR) != 0
    }

    private static func announce(_ ready: Descriptor) {
        var byte = UInt8(ascii: "R")
        _ = write(ready.number, &byte, 1)
    }

    /// Returns the folder of this program's executable, from the kernel's link, so that neither a caller nor an environment variable
    /// chooses which programs run as rooms.
    private static func programFolder() throws(SystemError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count, let slash = buffer[..<count].lastIndex(of: UInt8(ascii: "/")), slash > 0 else {
            throw SystemError("find this program's folder", code: count < 0 ? errno : ENAMETOOLONG)
        }
        return String(decoding: buffer[..<slash], as: UTF8.self)
    }

    private static func say(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = write(2, line, line.count)
    }
}
