import Glibc
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanRefusal

/// A proxy between the user's terminal and a command's inner one. Only its thread reads the terminal, so that input for a prompt never
/// reaches the command.
final class TerminalProxy {
    private let terminal: Terminal
    private let surface: AlternateScreenSurface
    private let inner: InnerTerminal
    private let resized: Wakeup
    /// Input that the command has not read yet. While there is some, nothing more is read from the terminal.
    private var typed: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 16384)

    init(_ command: [String], on terminal: Terminal, surface: AlternateScreenSurface) throws(SystemError) {
        resized = try Wakeup()
        self.terminal = terminal
        self.surface = surface
        inner = try InnerTerminal(command, size: terminal.size)
    }

    /// Runs until the command ends, and returns its exit code. Prompts appear here again when the service has started again.
    func run(_ first: PromptAgent, of registration: AgentRegistration) throws -> Int32 {
        Interruption.onWindowChange { [resized] in resized.signal() }
        defer { Interruption.onWindowChange(nil) }
        let mode = TerminalMode(terminal, dropsInput: false) { $0.passOn() }
        defer { withExtendedLifetime(mode) {} }
        var agent: PromptAgent? = first
        while true {
            let events = wait(typed.isEmpty ? terminal.descriptor : nil, agent?.descriptor ?? registration.descriptor)
            if events.resized { resize() }
            if events.output { _ = passOut() }
            // The size comes first: the command must have the new size before it receives later input.
            if events.input { resize(); readKeys() }
            if events.canWrite { passIn() }
            if events.request { agent = serve(agent, of: registration) }
            if events.ended {
                while passOut() {}
                return inner.exitCode()
            }
        }
    }

    /// Serves an agent, or takes one that was registered again. Returns the agent; nil if prompts cannot appear here now. The command
    /// continues in either case.
    private func serve(_ agent: PromptAgent?, of registration: AgentRegistration) -> PromptAgent? {
        guard let agent else {
            var next: PromptAgent?
            for item in registration.take() {
                report(item)
                if case .registered(let registered, _) = item { next = registered }
            }
            return next
        }
        guard let ended = agent.serve() else { return agent }
        guard ended.reason == .unavailable else {
            report(.failed(ended))
            return nil
        }
        do throws(SystemError) { try registration.registerAgain() } catch { report(.failed(Refusal(.unavailable, error.sentence))) }
        return nil
    }

    private func report(_ news: AgentRegistration.News) {
        if let sentence = news.sentence { terminal.write("\r\nvauban: \(sentence)\r\n") }
    }

    private struct Events { var input = false, output = false, canWrite = false, request = false, ended = false, resized = false }

    private func wait(_ keyboard: Descriptor?, _ agent: Descriptor) -> Events {
        let readable = Int16(POLLIN)
        var pollers = [
            pollfd(fd: keyboard?.number ?? -1, events: readable, revents: 0),
            pollfd(fd: inner.master.number, events: readable | (typed.isEmpty ? 0 : Int16(POLLOUT)), revents: 0),
            pollfd(fd: agent.number, events: readable, revents: 0),
            pollfd(fd: inner.process.number, events: readable, revents: 0),
            pollfd(fd: resized.descriptor.number, events: readable, revents: 0),
        ]
        guard poll(&pollers, nfds_t(pollers.count), -1) > 0 else { return Events() }
        return Events(
            input: pollers[0].revents != 0, output: pollers[1].revents & readable != 0,
            canWrite: pollers[1].revents & Int16(POLLOUT) != 0, request: pollers[2].revents != 0,
            // A command may close its terminal and keep running; only the end of its process ends the proxy.
            ended: pollers[3].revents != 0, resized: pollers[4].revents != 0)
    }

    /// Forwards one piece of the command's output, and returns false at its end. One piece at a time, so that a command that writes without
    /// pause does not delay prompts.
    private func passOut() -> Bool {
        while true {
            let count = read(inner.master.number, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            chunk.withUnsafeBytes { terminal.write(UnsafeRawBufferPointer(rebasing: $0[0..<count])) }
            return true
        }
    }

    private func readKeys() {
        let count = read(terminal.descriptor.number, &chunk, chunk.count)
        if count > 0 {
            typed = Array(chunk[0..<count])
            passIn()
        } else if count == 0 || errno != EINTR {
            // The user's terminal is closed, so the command's terminal is closed too.
            kill(getpid(), SIGHUP)
        }
        // The keys may be a password for the command.
        for index in chunk.indices { chunk[index] = 0 }
    }

    private func passIn() {
        guard !typed.isEmpty else { return }
        let count = write(inner.master.number, typed, typed.count)
        guard count > 0 else { return }
        for index in 0..<count { typed[index] = 0 }
        typed.removeFirst(count)
    }

    private func resize() {
        resized.clear()
        if let size = terminal.size { inner.resize(size) }
    }
}
