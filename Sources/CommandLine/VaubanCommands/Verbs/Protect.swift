import ArgumentParser
import Foundation
import Glibc
import VaubanRefusal

struct Protect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Run a program that your other programs can neither trace nor read.",
        discussion: """
            From its first instruction on, the kernel refuses other programs of yours to trace the command, to read its memory and \
            environment and to take its descriptors, root excepted. Its loader ignores LD_PRELOAD and the like, it leaves no core \
            dump, and it can get no new privileges where the kernel allows that. Give it a program: a shell or a script would undo \
            this for what it starts. Programs that use GTK refuse to run so; they can restrict themselves (VaubanProtection). \
            Requires the installed service.

            Example:
              vauban protect -- /usr/bin/mail
              vauban protect --without-new-code -- /usr/bin/mail
            """)

    @Flag(help: "Also forbid code that the program writes itself; not for programs that compile while they run.")
    var withoutNewCode = false

    @Argument(parsing: .postTerminator, help: "The command and its arguments.")
    var command: [String] = []

    func validate() throws {
        if command.isEmpty { throw ValidationError("No command given: vauban protect -- COMMAND") }
    }

    func run() throws {
        let launcher = "\(try Integrity.folder())/vauban-protect"
        var facts = stat()
        guard lstat(launcher, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == 0, facts.st_mode & 0o2000 != 0 else {
            throw Refusal(
                .unsupported,
                "This installation cannot protect programs: \(launcher) is missing or not set up. Only the service has it; see man vauban")
        }
        if Self.usesGTK(command[0]) {
            throw Refusal(
                .unsupported,
                "\(SafeText.visible(command[0])) uses GTK, which refuses to run in this way. Such a program can only restrict itself, with "
                    + "ProcessProtection.restrict() of VaubanProtection; see Manual/integrity.md")
        }
        let words = [launcher] + (withoutNewCode ? ["--without-new-code"] : []) + ["--"] + command
        throw ExitCode(CommandEnvironment().become(words, closing: nil))
    }

    /// Returns whether an executable names GTK's library, which refuses to start if the real and the effective group differ. The names of
    /// libraries are near the beginning.
    private static func usesGTK(_ command: String) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let paths = command.utf8.contains(UInt8(ascii: "/")) ? [command] : folders.map { "\($0)/\(command)" }
        guard let path = paths.first(where: { access($0, X_OK) == 0 }), let file = FileHandle(forReadingAtPath: path),
            let bytes = try? file.read(upToCount: 1 << 20)
        else { return false }
        return ["libgtk-3.so", "libgtk-4.so"].contains { bytes.range(of: Data([0]) + Data($0.utf8)) != nil }
    }
}
