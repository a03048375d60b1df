import Foundation
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// One command's use of the service. It unlocks a locked keychain if the user can be prompted, and shows the prompts of items here.
final class ServiceClient {
    let service: Service
    let user: CommandUser
    /// The keychain's name in prompts, since a command may use two.
    let name: String
    let keychain: KeychainClient
    let authentication: AuthenticationClient

    convenience init(_ options: UserOptions) throws { try self.init(CommandUser(options)) }

    convenience init(_ user: CommandUser) throws { self.init(user, try ServiceAccess.current(), name: "The keychain") }

    /// With `startsService` false, a stopped service is not started.
    init(_ user: CommandUser, _ service: Service, name: String, startsService: Bool = true) {
        self.service = service
        self.user = user
        self.name = name
        keychain = KeychainClient(service: service, startsService: startsService)
        authentication = AuthenticationClient(service: service, startsService: startsService)
    }

    /// Prompts for the passcode even if the keychain is unlocked, so that an unattended terminal does not disclose everything. The passcode
    /// then approves each item that needs it.
    static func openedByPasscode(_ options: UserOptions, prompt: String) throws -> ServiceClient {
        let asked = try ServiceClient(options)
        guard try asked.authentication.status().device.passcodeIsSet else { return asked }
        let passcode = try Passcode.current(of: asked, prompt: prompt)
        try asked.authentication.unlock(passcode)
        return try ServiceClient(CommandUser(mayBePrompted: !options.noInput, passcode: passcode))
    }

    /// Runs work; if the keychain is locked, prompts for the passcode and runs the work again.
    func withUnlock<Result>(_ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch let refusal as Refusal where refusal.reason == .locked || refusal.reason == .beforeFirstUnlock {
            try open(because: refusal)
            return try work()
        }
    }

    /// Unlocks a locked keychain now, for work that should not stop later for a prompt.
    func openNow() throws {
        let device = try authentication.status().device
        switch device.lock {
        case .unlocked: return
        case .locked: try open(because: Refusal(.locked))
        case .beforeFirstUnlock: try open(because: Refusal(.beforeFirstUnlock))
        case .unreadable: throw Refusal(.stateUnreadable, device.warnings.first)
        }
    }

    private func open(because refusal: Refusal) throws {
        if user.hasPreparedPasscode {
            let passcode = try user.preparedPasscode()
            return try authentication.unlock(passcode)
        }
        guard let terminal = user.terminal else { throw refusal }
        let why = refusal.reason == .locked ? "\(name) is locked." : "\(name) has not been unlocked since it started."
        terminal.write(why + "\n")
        try unlock(on: terminal)
    }

    /// Runs work that may prompt the user: on this terminal if there is one, otherwise with a note that the prompt appears elsewhere.
    func withPrompts<Result>(_ work: (@escaping KeychainClient.Waiting) throws -> Result) throws -> Result {
        guard let (agent, place, prepared) = try ownAgent() else { return try work(Self.waitingMessage(except: nil)) }
        // Waits until a prompt that is still on the terminal has disappeared.
        let left = DispatchSemaphore(value: 0)
        defer {
            agent.end()
            _ = left.wait(timeout: .now() + .nanoseconds(Int(ConnectionLimits.machineTime)))
        }
        let thread = Thread {
            defer { left.signal() }
            let ended = agent.run()
            if ended.reason == .internalError { say("vauban: \(ended.message)") }
        }
        thread.stackSize = 1 << 19
        thread.start()
        do {
            return try work(Self.waitingMessage(except: place))
        } catch let refusal as Refusal where refusal.reason == .cancelled {
            // A passcode from a descriptor has one attempt; nobody cancelled.
            throw prepared?.refusal ?? refusal
        }
    }

    private func ownAgent() throws -> (PromptAgent, place: String, prepared: PreparedSurface?)? {
        if user.hasPreparedPasscode {
            let place = "the passcode from --passcode-fd"
            let surface = PreparedSurface(user)
            return (try PromptAgent.forThisProcess(of: service, place: place, surface: surface), place, surface)
        }
        guard let terminal = user.terminal else { return nil }
        let place = "this terminal (\(terminal.name))"
        let surface = TerminalSurface(terminal, showsOutcome: false)
        return (try PromptAgent.forThisProcess(of: service, place: place, surface: surface), place, nil)
    }

    private static func waitingMessage(except own: String?) -> KeychainClient.Waiting {
        { place in
            if place != own { say("Waiting for your answer: \(SafeText.line(place, max: 200))") }
        }
    }
}
