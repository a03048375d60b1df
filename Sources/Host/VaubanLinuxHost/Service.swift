// Finds the Vauban service that a process uses (Specs/service.md). All clients follow the same rule, so that none uses a weaker service
// than the machine offers.

internal import CVaubanLinux
import Glibc
internal import VaubanPlainText

/// A service that a client can use, and how it was found.
package struct Service: Sendable, Hashable {
    package enum Mode: Sendable, Hashable {
        /// The folder that `VAUBAN_HOME` names: for development and tests.
        case named(home: String)
        /// The installed service: each room under its own system user.
        case system
        /// The user's own rooms, set up by `vauban setup`.
        case user(home: String)
    }

    package let mode: Mode
    package let sockets: String
    package let keychainUID: UInt32
    package let authenticationUID: UInt32
    package let enclaveUID: UInt32

    package var keychainAddress: ServerAddress { ServerAddress(folder: sockets, socket: "keychain", serverUID: keychainUID) }
    package var authenticationAddress: ServerAddress {
        ServerAddress(folder: sockets, socket: "authentication", serverUID: authenticationUID)
    }

    /// The state folder, if this process's user has one.
    package var home: String? {
        switch mode {
        case .named(let home), .user(let home): home
        case .system: nil
        }
    }

    /// Returns the service that this process uses: the one that `VAUBAN_HOME` names, otherwise the installed one even if it does not run,
    /// otherwise the user's own if it was set up.
    package static func find(environment: ServiceEnvironment = .ofThisProcess) throws(ServiceError) -> Service {
        if let home = environment.namedHome { return own(.named(home: home), home: home, environment) }
        if let roster = try Roster.installed() {
            return Service(
                mode: .system, sockets: Roster.socketFolder, keychainUID: try roster.uid(of: .keychaind),
                authenticationUID: try roster.uid(of: .authd), enclaveUID: try roster.uid(of: .enclaved))
        }
        if let home = environment.userHome, access("\(home)/\(ServiceFile.name)", F_OK) == 0 {
            return own(.user(home: home), home: home, environment)
        }
        throw ServiceError("Vauban is not set up here: run vauban setup")
    }

    /// Returns the service of a folder of this user, whether or not it was set up yet.
    package static func own(_ mode: Mode, home: String, _ environment: ServiceEnvironment) -> Service {
        var sockets = "\(home)/run"
        if case .user = mode {
            // The sockets of the running launcher take precedence, even if this session's environment would lead to others.
            if let running = LauncherControl.running(home: home) {
                sockets = running.sockets
            } else if let runtime = environment.runtimeFolder {
                sockets = "\(runtime)/vauban"
            }
        }
        let uid = geteuid()
        return Service(mode: mode, sockets: sockets, keychainUID: uid, authenticationUID: uid, enclaveUID: uid)
    }
}

/// The environment variables that are considered: none in a privileged program (AT_SECURE).
package struct ServiceEnvironment: Sendable, Hashable {
    package var namedHome: String?
    package var userHome: String?
    package var runtimeFolder: String?

    package init(namedHome: String?, userHome: String?, runtimeFolder: String?) {
        self.namedHome = namedHome
        self.userHome = userHome
        self.runtimeFolder = runtimeFolder
    }

    package static var ofThisProcess: ServiceEnvironment {
        let secure = vauban_is_privileged()
        func value(_ name: String) -> String? {
            guard !secure, let value = getenv(name) else { return nil }
            let text = String(cString: value)
            return text.isEmpty ? nil : text
        }
        func absolute(_ path: String) -> String {
            if path.hasBytePrefix("/") { return path }
            guard let here = getcwd(nil, 0) else { return path }
            defer { free(here) }
            return "\(String(cString: here))/\(path)"
        }
        let data = value("XDG_DATA_HOME") ?? (value("HOME") ?? passwdHome).map { "\($0)/.local/share" }
        return ServiceEnvironment(
            namedHome: value("VAUBAN_HOME").map(absolute), userHome: data.map { "\(absolute($0))/vauban" },
            runtimeFolder: value("XDG_RUNTIME_DIR").map(absolute))
    }

    private static var passwdHome: String? {
        guard let entry = getpwuid(geteuid()), let directory = entry.pointee.pw_dir else { return nil }
        return String(cString: directory)
    }
}
