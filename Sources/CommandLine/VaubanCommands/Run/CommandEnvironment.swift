import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// The secrets for a command's environment, and the call that executes the command.
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
    /// The limit for one string of the environment with its name and terminator: the kernel's MAX_ARG_STRLEN.
    private static let stringBytesMax = 32 * 4096

    mutating func add(_ name: String, _ value: consuming SecretBytes) { variables.append(Variable(name, value)) }

    func has(_ name: String) -> Bool { variables.contains { $0.name == name } }

    /// Throws if a secret cannot be the value of a variable; values are never truncated.
    static func check(_ value: borrowing SecretBytes, name: String) throws(Refusal) {
        if value.withUnsafeBytes({ $0.contains(0) }) {
            throw Refusal(.badParameter, "The secret contains a zero byte, which no variable can hold; use vauban get")
        }
        if name.utf8.count + 1 + value.count + 1 > stringBytesMax {
            throw Refusal(.dataTooLarge, "A variable holds at most \(stringBytesMax >> 10) KiB")
        }
    }

    /// Executes the command in this process. Returns an exit code of a shell only if that failed.
    func become(_ command: [String], closing descriptor: Int32?) -> Int32 {
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        // The command must not inherit the descriptor of the passcode. Standard input stays: the command reads what follows the line.
        if let descriptor, descriptor > STDERR_FILENO { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        Interruption.putRight()
        // SECRETS AS C STRINGS: the only place. execve accepts an environment only as C strings, which the kernel copies from ordinary
        // memory. The copies exist only until the next lines: the kernel discards this memory when it starts the command, and if that fails
        // they are overwritten.
        let isWhole = variables.allSatisfy { Self.set($0.name, $0.value) }
        Interruption.restoreSignals()
        var problem = isWhole ? ENOENT : ENOMEM
        if isWhole, let program = arguments[0] {
            execvp(program, &arguments)
            problem = errno
        }
        for variable in variables { Self.erase(variable.name) }
        say("vauban: \(SystemError("start \(SafeText.visible(command.first ?? ""))", code: problem).sentence)")
        return problem == ENOENT ? 127 : 126
    }

    /// Returns false if there is not enough memory; otherwise the command would run with the variable's previous value.
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
