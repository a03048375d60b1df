import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// The secrets that a command is to find in its environment, and the step into that command.
struct CommandEnvironment {
    private final class Variable {
        let name: String
        let value: SecretBytes
        init(_ name: String, _ value: consuming SecretBytes) {
            self.name = name
            self.value = value
        }
    }

    private var variables: [Variable] = []
    /// Of one string of the environment, with its name and its end: MAX_ARG_STRLEN of the kernel.
    private static let stringBytesMax = 32 * 4096

    mutating func add(_ name: String, _ value: consuming SecretBytes) { variables.append(Variable(name, value)) }

    func has(_ name: String) -> Bool { variables.contains { $0.name == name } }

    /// Whether a secret can be a variable at all; what cannot is refused and never cut.
    static func check(_ value: borrowing SecretBytes, name: String) throws(Refusal) {
        if value.withUnsafeBytes({ $0.contains(0) }) {
            throw Refusal(.badParameter, "the secret has a zero byte, which ends a variable; use vauban get")
        }
        if name.utf8.count + 1 + value.count + 1 > stringBytesMax {
            throw Refusal(.dataTooLarge, "a variable takes \(stringBytesMax >> 10) KiB")
        }
    }

    /// Goes on as the command, in this same process; answers an exit code, a shell's, only where that failed.
    func become(_ command: [String], closing descriptor: Int32?) -> Int32 {
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        // The command has no business with what the passcode came by. Standard input stays: what follows the line is its own.
        if let descriptor, descriptor > STDERR_FILENO { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        Interruption.putRight()
        // SECRETS AS C STRINGS: the only place. execve takes its environment as nothing else, and the kernel copies it from
        // ordinary memory. The copies live from here to the next lines: the kernel drops this whole memory when it starts
        // the command, and where it does not they are overwritten.
        let isWhole = variables.allSatisfy { Self.set($0.name, $0.value) }
        Interruption.restoreSignals()
        var problem = isWhole ? ENOENT : ENOMEM
        if isWhole, let program = arguments[0] {
            execvp(program, &arguments)
            problem = errno
        }
        for variable in variables { Self.erase(variable.name) }
        say("vauban: \(SystemError("start \(SafeText.visible(command.first ?? ""))", code: problem))")
        return problem == ENOENT ? 127 : 126
    }

    /// False where there is no memory for it: then the command would run with what its variable was before.
    private static func set(_ name: String, _ value: borrowing SecretBytes) -> Bool {
        let string = value.withUnsafeBytes { bytes in SecretBytes(count: bytes.count + 1) { $0.copyMemory(from: bytes) } }
        return string.withUnsafeBytes { bytes in
            guard let text = bytes.bindMemory(to: CChar.self).baseAddress else { return false }
            return setenv(name, text, 1) == 0
        }
    }

    private static func erase(_ name: String) {
        guard let value = getenv(name) else { return }
        explicit_bzero(value, strlen(value))
        unsetenv(name)
    }
}
