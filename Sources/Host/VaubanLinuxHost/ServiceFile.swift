internal import CVaubanLinux
import Glibc

/// `HOME/service`, written by `vauban setup`: marks the folder as a user-mode keychain and names the launcher that starts it.
package enum ServiceFile {
    package static let name = "service"

    package static func write(launcher: String, in folder: PrivateFolder) throws(SystemError) {
        try DurableFile(name, in: folder).replace(with: Array("version 1\nlauncher \(launcher)\n".utf8))
    }

    /// Returns the recorded launcher; nil if the folder is not a user-mode keychain.
    package static func launcher(home: String) -> String? {
        guard let text = SmallFile.text(path: "\(home)/\(name)", max: 8192) else { return nil }
        let lines = text.split(separator: "\n")
        guard lines.first == "version 1", let line = lines.first(where: { $0.hasPrefix("launcher ") }) else { return nil }
        return String(line.dropFirst("launcher ".count))
    }
}

/// Starts a user-mode service that is set up but not running, as systemd starts the installed one.
package enum ServiceStarter {
    /// Runs the launcher in its own session and waits until its sockets are bound. Returns false if the folder is not set up. A launcher
    /// that already runs is not affected, since it holds the folder's lock.
    package static func start(_ service: Service) throws(SystemError) -> Bool {
        guard let home = service.home, let launcher = ServiceFile.launcher(home: home) else { return false }
        var ends: [Int32] = [0, 0]
        try SystemError.checkNegated(vauban_pipe(&ends), "make a pipe")
        let reading = Descriptor(ends[0])
        var writing: Descriptor? = Descriptor(ends[1])
        let words = [launcher, "--home", home, "--sockets", service.sockets, "--ready-descriptor", "3"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        try SystemError.checkNegated(vauban_spawn_detached(launcher, &arguments, nil, ends[1]), "start \(launcher)")
        writing = nil
        _ = writing
        // One byte means that the service is ready; the end of the pipe without a byte means that the launcher failed.
        var poller = pollfd(fd: reading.number, events: Int16(POLLIN), revents: 0)
        let deadline = MachineClock.monotonic + ConnectionLimits.machineTime
        while true {
            let ready = poll(&poller, 1, MachineClock.pollTime(until: deadline))
            if ready > 0 { break }
            // An application may handle signals.
            guard ready < 0, errno == EINTR else { throw SystemError("start \(launcher)", code: ETIMEDOUT) }
        }
        var byte: UInt8 = 0
        return read(reading.number, &byte, 1) == 1
    }
}
