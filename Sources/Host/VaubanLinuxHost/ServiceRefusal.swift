// What a client says when the service itself is the matter.

internal import VaubanPlainText
package import VaubanRefusal

extension Refusal {
    /// What a caller is told when a door cannot be reached or the talk broke off.
    package init(unreachable fault: HandshakeError, what door: String) {
        switch fault {
        case .channel(.deadline): self.init(.unavailable, "\(door) did not answer in time")
        case .channel(.oversized): self.init(.dataTooLarge)
        case .channel: self.init(.unavailable, "the connection to \(door) broke off; nothing is known of the last request")
        case .system(let fault) where fault.isFullDisk: self.init(.storageFull)
        case .system(let fault): self.init(.unavailable, "Vauban does not run (\(fault)); run vauban serve, or start the installed service")
        case .wrongServer(let uid):
            self.init(.unavailable, "the socket of \(door) belongs to user \(uid), who is not Vauban; nothing was sent")
        case .noKeychain(let home):
            let name = PlainLine.path(home, charactersMax: 200)
            self.init(
                .unavailable,
                "VAUBAN_HOME names \(name), where there is no keychain; make one there with vauban setup, or unset VAUBAN_HOME")
        case .unproven(let why): self.init(.unavailable, "\(door) refused the connection: \(why)")
        }
    }
}

extension Service {
    /// The service of this process, or the refusal that says how to get one.
    package static func current() throws(Refusal) -> Service {
        do throws(Service.Fault) {
            return try find()
        } catch {
            switch error {
            case .notSetUp: throw Refusal(.unavailable, "Vauban is not set up here: run vauban setup")
            case .badRoster(let why): throw Refusal(.unavailable, why)
            }
        }
    }
}
