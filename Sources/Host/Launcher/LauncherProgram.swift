// Starts the rooms in user mode, as systemd does in system mode: the folder first, then its lock, then the sockets, then the
// rooms. It holds nothing of what the rooms hold.

import Glibc
internal import Logging
internal import VaubanLinuxHost

package enum LauncherProgram {
    /// `EX_USAGE` and `EX_TEMPFAIL` of sysexits.h.
    private static let usageExit: Int32 = 64
    private static let alreadyRunningExit: Int32 = 75

    /// The whole program. The installed launcher has the installed programs and no others.
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
            let home = try PrivateFolder(path: options.home, creating: true)
            switch try takeLock(home) {
            case .taken(let lock):
                try serve(options, programs, home: home, lock: lock, ready: &ready, log: log)
                exit(0)
            case .heldBy(let other):
                exit(leaveTo(other, options, ready))
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
        // The lock itself ends with the process. What the file says then is believed by nobody, so a fault is none.
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
        var supervisor = Supervisor(folder: folder, plans: plans, sockets: sockets, signals: signals, log: log)
        defer { supervisor.stopRooms() }
        supervisor.startRooms()
        try LauncherRecord.ofSelf(sockets: options.sockets, isReady: true).write(to: lock)
        if let ready = ready.take() { tell(ready) }
        log.info("the rooms run", metadata: ["home": "\(options.home)"])
        try supervisor.run()
        log.info("asked to stop")
        try LauncherRecord.ofSelf(sockets: options.sockets, isReady: false).write(to: lock)
    }

    // MARK: The second launcher

    private enum Lock {
        case taken(Descriptor)
        case heldBy(LauncherRecord?)
    }

    /// Waits while another launcher has the folder and is not ready: it starts and will be, or it stops and lets go.
    private static func takeLock(_ home: PrivateFolder) throws(SystemError) -> Lock {
        let deadline = MachineClock.monotonic + ConnectionLimits.machineTime
        while true {
            if let lock = try home.lock(LauncherControl.lockName) { return .taken(lock) }
            let other = LauncherControl.running(home: home.path)
            if other?.isReady == true || MachineClock.monotonic > deadline { return .heldBy(other) }
            // A file says nothing when it is written, so there is nothing to wait for but time.
            poll(nil, 0, LauncherLimits.lookPause)
        }
    }

    /// What a launcher does that is not needed. Whoever waits for the service gets its byte, provided that the running
    /// launcher serves where they will look; everybody else is told.
    private static func leaveTo(_ other: LauncherRecord?, _ options: LauncherOptions, _ ready: Descriptor?) -> Int32 {
        if let ready, let other, other.isReady, other.sockets == options.sockets {
            tell(ready)
            return 0
        }
        say("vauban-launcher: already running for \(options.home)\(other.map { ", with its sockets in \($0.sockets)" } ?? "")")
        return alreadyRunningExit
    }

    // MARK: Small things

    private static func tell(_ ready: Descriptor) {
        var byte = UInt8(ascii: "R")
        _ = write(ready.number, &byte, 1)
    }

    /// The folder of this program itself, in the kernel's words: no caller and no environment can choose what runs as a room.
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
