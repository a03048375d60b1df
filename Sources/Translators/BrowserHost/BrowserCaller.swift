import Glibc
internal import VaubanBrowserSetup
package import VaubanLinuxHost
internal import VaubanPlainText
package import VaubanRefusal

/// The browser that started this program for an extension.
package struct BrowserCaller: Sendable {
    package enum Family: Hashable, Sendable { case chromium, firefox }

    /// The browser's name for the user.
    package let name: String

    /// Browsers by the file names of their executables.
    private static let browsers: [String: (name: String, family: Family)] = [
        "chromium": ("Chromium", .chromium), "chromium-browser": ("Chromium", .chromium), "chrome": ("Chrome", .chromium),
        "firefox": ("Firefox", .firefox), "firefox-esr": ("Firefox", .firefox), "firefox-bin": ("Firefox", .firefox),
    ]

    /// Returns the family whose browsers pass these arguments, without the program's own name; nil for any other extension.
    package static func family(of arguments: [String]) -> Family? {
        switch arguments.count {
        case 1 where arguments[0] == BrowserSetup.chromiumOrigin: .chromium
        // The path of the manifest comes before the extension.
        case 2 where arguments[1] == BrowserSetup.firefoxExtension: .firefox
        default: nil
        }
    }

    /// Examines the parent process. With the installed service, its executable must be a file that only root can change.
    ///
    /// - Throws: `notAllowedHere` with what is wrong.
    package init(arguments: [String], mode: Service.Mode) throws(Refusal) {
        guard let family = Self.family(of: arguments) else {
            throw Refusal(.notAllowedHere, "Only a browser starts this program, for Vauban's extension")
        }
        let parent = getppid()
        guard let path = Self.executable(of: parent), let file = PathBytes.parts(of: path)?.name else { throw Self.unknown }
        // An upgrade replaced the file that the running browser executes, so nobody can examine it any more.
        if PathBytes.isDeleted(path), let updated = Self.browsers[String(file.dropLast(Self.deletedMark.count))], updated.family == family {
            throw Refusal(.notAllowedHere, "\(updated.name) was updated while it was open; close it and open it again")
        }
        guard let browser = Self.browsers[file], browser.family == family else { throw Self.unknown }
        guard mode != .system || Self.isInstalled(path, process: parent) else {
            let shown = PlainLine.path(path, charactersMax: 200)
            throw Refusal(.notAllowedHere, "\(shown) can be changed by others than root; install the browser as root")
        }
        // If the process has ended meanwhile, another one may have its number.
        guard getppid() == parent else { throw Refusal(.notAllowedHere, "The program that started this one has ended") }
        name = browser.name
    }

    /// The suffix that the kernel appends to the path of a file that no longer has a name.
    private static let deletedMark = " (deleted)"
    private static let unknown = Refusal(.notAllowedHere, "The program that started this one is not a browser that Vauban knows")

    private static func executable(of process: pid_t) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4097)
        let count = readlink("/proc/\(process)/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count], as: UTF8.self)
    }

    /// Returns whether the process executes the file at this path, and only root can change that file.
    private static func isInstalled(_ path: String, process: pid_t) -> Bool {
        var facts = stat()
        guard let file = InstalledFile(path: path), stat("/proc/\(process)/exe", &facts) == 0 else { return false }
        return file.device == facts.st_dev && file.inode == facts.st_ino
    }
}
