// Calls of an application that may prompt the user. Its own terminal names the place of the prompt, and shows the prompt only if no agent
// is registered and the user allowed that.

internal import Dispatch
package import VaubanLinuxHost
package import VaubanRefusal
internal import VaubanUserModel

package enum OwnTerminal {
    package typealias Waiting = (String) -> Void

    /// Runs a call. If it finds no prompt agent, runs it once more with this process's own terminal as the agent; the first run had no
    /// effect, since the user was not prompted.
    package static func withPrompts<Value: ~Copyable>(
        for service: @autoclosure () throws(Refusal) -> Service, _ call: (@escaping Waiting) throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
        do throws(Refusal) {
            return try call(showPlace)
        } catch {
            guard error.reason == .noPromptAgent, let agent = agent(of: try service()) else { throw error }
            let left = DispatchSemaphore(value: 0)
            do throws(SystemError) {
                try HostThread.start {
                    _ = agent.run()
                    left.signal()
                }
            } catch {
                throw Refusal(.unavailable, error.sentence)
            }
            // Restores the terminal before this returns.
            defer {
                agent.end()
                _ = left.wait(timeout: .now() + .nanoseconds(Int(ConnectionLimits.machineTime)))
            }
            do throws(Refusal) {
                return try call { if $0 != CallerTerminal.place { showPlace($0) } }
            } catch {
                // Consent prompts: authd does not send them here.
                if error.reason == .noPromptAgent { CallerTerminal.inForeground()?.write(CallerTerminalText.notHere) }
                throw error
            }
        }
    }

    /// Returns whether this process's terminal could show a prompt.
    package static func canPrompt(for service: Service) -> Bool { CallerTerminal.inForeground() != nil && allowsPrompts(service) }

    private static func agent(of service: Service) -> PromptAgent? {
        guard let terminal = CallerTerminal.inForeground(), allowsPrompts(service) else { return nil }
        return try? PromptAgent.forThisProcess(of: service, place: CallerTerminal.place, surface: terminal)
    }

    /// Returns whether the user's setting allows prompts here. The service refuses them anyway if programs are distinguished.
    private static func allowsPrompts(_ service: Service) -> Bool {
        (try? AuthenticationClient(service: service).status().device.settings.allowsTerminalPrompts) ?? false
    }

    private static func showPlace(_ place: String) { CallerTerminal.inForeground()?.write(CallerTerminalText.waiting(at: place)) }
}
