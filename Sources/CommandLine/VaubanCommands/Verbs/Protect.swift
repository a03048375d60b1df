import ArgumentParser
import Foundation
import Glibc
import VaubanLinuxHost
import VaubanRefusal

struct Protect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Run a program that your other programs can neither trace nor read.",
        discussion: """
            From its first instruction on, the kernel does not let your other programs trace the command, read its memory and \
            environment, or take its descriptors; only root can. Its loader ignores LD_PRELOAD and the like, and it leaves no core \
            dump. If it is compromised, it can do less, as far as the kernel supports that (--status): it gets no new privileges, and \
            cannot trace or signal programs outside, make namespaces, mount, load code into the kernel or change the system's files. \
            The options --allow-… lift these limits one by one. Give it a program: what a shell or a script starts is not protected \
            from your other programs. Programs that use GTK refuse to run in this way; they can restrict themselves \
            (VaubanProtection). Requires the installed service.

            Example:
              vauban protect -- /usr/bin/mail
              vauban protect --without-new-code -- /usr/bin/mail
              vauban protect --status
            """)

    @Flag(help: "Also forbid code that the program writes itself; not for programs that compile while they run.")
    var withoutNewCode = false

    @Flag(help: "Also forbid connections to abstract Unix addresses; not for programs with a window on X11.")
    var withoutAbstractSockets = false

    @Option(
        help: ArgumentHelp(
            "Also forbid changes of this file or folder, such as the program's own; it can then make nothing in the folders above it.",
            valueName: "path"))
    var withoutChanging: [String] = []

    @Flag(help: "Allow the system calls of debuggers and administrators, and, with --allow-namespaces, 32-bit programs.")
    var allowSystemCalls = false

    @Flag(help: "Allow new namespaces, which sandboxes of browsers need.")
    var allowNamespaces = false

    @Flag(help: "Allow signals to programs that the command did not start.")
    var allowSignals = false

    @Flag(help: "Allow changes in /usr, /etc and the system's other folders, as far as the file permissions do.")
    var allowSystemFiles = false

    @Flag(help: "Show each protection, and whether it is set. Alone, or before the command starts.")
    var status = false

    @Argument(parsing: .postTerminator, help: "The command and its arguments.")
    var command: [String] = []

    func validate() throws {
        if command.isEmpty, !status { throw ValidationError("No command given: vauban protect -- COMMAND") }
    }

    func run() throws {
        let launcher = "\(try Integrity.folder())/vauban-protect"
        var facts = stat()
        guard lstat(launcher, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == 0, facts.st_mode & 0o2000 != 0 else {
            throw Refusal(
                .unsupported,
                "This installation cannot protect programs: \(launcher) is missing or not set up. Only the installed service has it; "
                    + "see \(ManualPage.integrity.path)")
        }
        if let name = command.first { try Self.checkKind(of: name, allows32Bits: allowSystemCalls && allowNamespaces) }
        throw ExitCode(CommandEnvironment().become([launcher] + options + ["--"] + command, closing: nil))
    }

    private var options: [String] {
        let flags = [
            ("--without-new-code", withoutNewCode), ("--without-abstract-sockets", withoutAbstractSockets),
            ("--allow-system-calls", allowSystemCalls), ("--allow-namespaces", allowNamespaces), ("--allow-signals", allowSignals),
            ("--allow-system-files", allowSystemFiles), ("--status", status),
        ]
        return flags.filter(\.1).map(\.0) + withoutChanging.flatMap { ["--without-changing", $0] }
    }

    /// Refuses programs that could not run under this protection, and names the alternative.
    private static func checkKind(of command: String, allows32Bits: Bool) throws {
        guard let start = start(of: command) else { return }
        if usesGTK(start) {
            throw Refusal(
                .unsupported,
                "\(SafeText.visible(command)) uses GTK, which refuses to run in this way. Such a program can only restrict itself, with "
                    + "ProcessProtection.restrict() of VaubanProtection; see \(ManualPage.integrity.path)")
        }
        // The class of an ELF file: 1 is for 32 bits.
        if !allows32Bits, start.starts(with: [0x7F, 0x45, 0x4C, 0x46, 1]) {
            throw Refusal(
                .unsupported,
                "\(SafeText.visible(command)) is a 32-bit program, whose system calls cannot be filtered. Add --allow-system-calls "
                    + "and --allow-namespaces to run it without that protection")
        }
    }

    /// Returns whether an executable names GTK's library, which refuses to start if the real and the effective group differ.
    private static func usesGTK(_ start: Data) -> Bool {
        ["libgtk-3.so", "libgtk-4.so"].contains { start.range(of: Data([0]) + Data($0.utf8)) != nil }
    }

    /// Returns the beginning of an executable, which contains the names of its libraries; nil if it cannot be read.
    private static func start(of command: String) -> Data? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let paths = command.utf8.contains(UInt8(ascii: "/")) ? [command] : folders.map { "\($0)/\(command)" }
        guard let path = paths.first(where: { access($0, X_OK) == 0 }), let file = SmallFile.opened(path: path) else { return nil }
        return withExtendedLifetime(file) {
            try? FileHandle(fileDescriptor: file.number, closeOnDealloc: false).read(upToCount: 1 << 20)
        }
    }
}
