import Glibc
import VaubanLinuxHost
import VaubanPlainText
import VaubanRefusal

/// Which service this command uses, and the making of one. Only the command line makes a keychain.
enum ServiceAccess {
    /// The service for any verb. A home that `VAUBAN_HOME` names is made if it is not there: that is what the variable
    /// is for. With the installed service no other program of the user can read this one's memory; in user mode the
    /// witness has no right to see through that, and a prompt could not name this program.
    static func current() throws -> Service {
        let service = try Service.current()
        if service.mode == .system { try ProcessHardening.hide() }
        if case .named(let home) = service.mode { try make(home: home) }
        return service
    }

    /// The service that this user's own folder is or would be; nil where the machine has an installed one.
    static func own() throws(Refusal) -> Service? {
        do throws(Refusal) {
            let service = try Service.current()
            return service.mode == .system ? nil : service
        } catch {
            // Either nothing is set up, which is what setup is for, or the installed service's list is broken.
            if (try? Roster.installed()) == nil, access(Roster.path, F_OK) == 0 { throw error }
        }
        let environment = ServiceEnvironment.ofThisProcess
        guard let home = environment.userHome else {
            throw Refusal(.unavailable, "no home folder for a keychain; name one in VAUBAN_HOME")
        }
        return Service.own(.user(home: home), home: home, environment)
    }

    /// Makes the folder and says in it which launcher starts it. Answers false when it was set up already.
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
            throw Refusal(.unavailable, "\(error)")
        }
        return true
    }

    /// The launcher lies beside this program's own file, wherever links to it may lie.
    static func launcherPath() throws(Refusal) -> String {
        guard let real = realpath("/proc/self/exe", nil) else {
            throw Refusal(.unavailable, "this program cannot find its own file; check that /proc is mounted")
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
