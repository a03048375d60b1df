// Calls of an application that may ask the user: its own terminal is told where they are asked, and is where they are asked
// only if nothing else is there and they allowed it.

import Foundation
package import VaubanLinuxHost
package import VaubanRefusal
internal import VaubanUserModel

package enum OwnTerminal {
    package typealias Waiting = (String) -> Void

    /// Runs a call. One that finds nobody to ask is made once more with this process's own terminal as the place; nobody had been
    /// asked, so nothing was done.
    package static func asking<Value: ~Copyable>(
        of service: @autoclosure () throws(Refusal) -> Service, _ call: (@escaping Waiting) throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
        do throws(Refusal) {
            return try call(tell)
        } catch {
            guard error.reason == .nobodyToAsk, let agent = agent(of: try service()) else { throw error }
            let left = DispatchSemaphore(value: 0)
            let thread = Thread {
                _ = agent.run()
                left.signal()
            }
            thread.stackSize = 1 << 19
            thread.start()
            // The terminal is as it was before this returns.
            defer {
                agent.end()
                _ = left.wait(timeout: .now() + .nanoseconds(Int(ConnectionLimits.machineTime)))
            }
            do throws(Refusal) {
                return try call { if $0 != CallerTerminal.place { tell($0) } }
            } catch {
                // Questions for consent: authd does not ask them here.
                if error.reason == .nobodyToAsk { CallerTerminal.inForeground()?.write(CallerTerminalText.notHere) }
                throw error
            }
        }
    }

    /// Whether the user could be asked at this process's terminal.
    package static func mayAsk(of service: Service) -> Bool { CallerTerminal.inForeground() != nil && isAllowed(service) }

    private static func agent(of service: Service) -> PromptAgent? {
        guard let terminal = CallerTerminal.inForeground(), isAllowed(service) else { return nil }
        return try? PromptAgent.forThisProcess(of: service, place: CallerTerminal.place, surface: terminal)
    }

    /// The service refuses it in any case where programs are told apart; where they are not, the user's word counts as well.
    private static func isAllowed(_ service: Service) -> Bool {
        (try? AuthenticationClient(service: service).status().device.settings.allowsTerminalPrompts) ?? false
    }

    private static func tell(_ place: String) { CallerTerminal.inForeground()?.write(CallerTerminalText.waiting(at: place)) }
}
