import Glibc
import VaubanLinuxHost
import VaubanPlainText
import VaubanRefusal

/// The service that this command uses, and its creation. Only the command line creates a keychain.
enum ServiceAccess {
    /// Returns the service for any verb. Creates the home that `VAUBAN_HOME` names if it is missing, which is the purpose of the variable.
    /// With the installed service the user's other programs cannot read this process's memory; in user mode the witness lacks the right to
    /// inspect such a process, and a prompt could not name this program.
    static func current() throws -> Service {
        let service = try Service.current()
        if service.mode == .system { try ProcessHardening.hide() }
        if case .named(let home) = service.mode { try make(home: home) }
        return service
    }

    /// Returns the service of this user's own folder, whether or not it exists; nil if the machine has an installed service.
    static func own() throws(Refusal) -> Service? {
        do throws(Refusal) {
            let service = try Service.current()
            return service.mode == .system ? nil : service
        } catch {
            // Either nothing is set up yet, which `setup` handles, or the list of the installed service is damaged.
            if (try? Roster.installed()) == nil, access(Roster.path, F_OK) == 0 { throw error }
        }
        let environment = ServiceEnvironment.ofThisProcess
        guard let home = environment.userHome else {
            throw Refusal(.unavailable, "No home folder for a keychain; name one in VAUBAN_HOME")
        }
        return Service.own(.user(home: home), home: home, environment)
    }

    /// Creates the folder and records the launcher's path in it. Returns false if it was set up already.
    @discardableResult
    static func make(home: String) throws(Refusal) -> Bool {
        if let recorded = ServiceFile.launcher(home: home), access(recorded, X_OK) == 0 { return false }
        let launcher = try launcherPath()
        do {
            try ServiceFile.write(launcher: launcher, in: try PrivateFolder(path: home, creating: true))
        } catch let fault as SystemError where fault.isFullDisk {
            throw Refusal(.storageFull)
        } catch PrivateFolder.OpeningError.system(let fault) where fault.isFullDisk {
            throw Refusal(.storageFull)
        } catch {
            throw Refusal(.unavailable, (error as? SystemError)?.sentence ?? "\(error)")
        }
        return true
    }

    /// Returns the path of the launcher beside this program's own file, after resolving links to it.
    static func launcherPath() throws(Refusal) -> String {
        guard let real = realpath("/proc/self/exe", nil) else {
            throw Refusal(.unavailable, "This program cannot find its own file; check that /proc is mounted")
        }
        defer { free(real) }
        let own = String(cString: real)
        let folder = PathBytes.parts(of: own)?.folder ?? ""
        let launcher = "\(folder)/vauban-launcher"
        guard access(launcher, X_OK) == 0 else {
            throw Refusal(.unavailable, "\(launcher) is missing; install or build all of Vauban")
        }
        return launcher
    }
}
