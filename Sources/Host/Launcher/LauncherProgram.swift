// Starts the rooms in user mode, as systemd does in system mode: the folder first, then its lock, then the sockets, then the
// rooms. It holds nothing of what the rooms hold.

import Glibc
internal import Logging
internal import VaubanLinuxHost

package enum LauncherProgram {
    /// `EX_USAGE` and `EX_TEMPFAIL` of sysexits.h.
    private static let usageExit: Int32 = 64
    private static let alreadyRunningExit: Int32 = 75

    /// The whole program. `enclave` is the program of the room that holds keys, `watcher` that of the watcher, each with the
    /// words that it gets beyond every attendant's; the installed launcher has no other.
    package static func main(enclave: [String], watcher: [String] = ["vauban-watcher"]) -> Never {
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
                try serve(options, enclave: enclave, watcher: watcher, home: home, lock: lock, ready: &ready, log: log)
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
        _ options: LauncherOptions, enclave: [String], watcher: [String], home: PrivateFolder, lock: Descriptor, ready: inout Descriptor?,
        log: Logger
    ) throws {
        if options.readyDescriptor != nil { try RoomLog.takeStandardError(in: home) }
        try LauncherRecord.ofSelf(sockets: options.sockets, isReady: false).write(to: lock)
        // The lock itself ends with the process. What the file says then is believed by nobody, so a fault is none.
        defer { try? LauncherRecord.erase(in: lock) }
        let folder = try programFolder()
        let plans = RoomPlan.all(enclave: enclave, watcher: watcher, home: options.home, sockets: options.sockets, uid: geteuid())
        for plan in plans { try SystemFault.check(access("\(folder)/\(plan.program)", X_OK), "run \(folder)/\(plan.program)") }
        for name in RoomPlan.stateFolders { _ = try home.subfolder(name, creating: true) }
        let socketFolder = try PrivateFolder(path: options.sockets, creating: true)
        let signals = try SignalSource()
        var sockets: [String: Descriptor] = [:]
        defer { for name in sockets.keys { socketFolder.remove(name) } }
        for name in plans.compactMap(\.socket) { sockets[name] = try socketFolder.bindSocket(name, mode: 0o600) }
        try SystemFault.check(chdir("/"), "leave the working folder")
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
    private static func takeLock(_ home: PrivateFolder) throws(SystemFault) -> Lock {
        let deadline = MachineClock.monotonic + DoorLimits.machineTime
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
    private static func programFolder() throws(SystemFault) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count, let slash = buffer[..<count].lastIndex(of: UInt8(ascii: "/")), slash > 0 else {
            throw SystemFault("find this program's folder", code: count < 0 ? errno : ENAMETOOLONG)
        }
        return String(decoding: buffer[..<slash], as: UTF8.self)
    }

    private static func say(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = write(2, line, line.count)
    }
}
