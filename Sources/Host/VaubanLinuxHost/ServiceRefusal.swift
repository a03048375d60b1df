// A client's refusals about the service itself.

internal import VaubanPlainText
package import VaubanRefusal

extension Refusal {
    /// Creates the refusal for a socket that cannot be reached or a connection that broke.
    package init(unreachable fault: HandshakeError, what service: String) {
        let first = service.prefix(1).uppercased() + service.dropFirst()
        switch fault {
        case .channel(.deadline): self.init(.unavailable, "\(first) did not answer in time")
        case .channel(.oversized):
            self.init(
                .dataTooLarge,
                "The secret is larger than 1 MiB, or the name and the attributes are too long; encrypt the file elsewhere and "
                    + "store its key in the keychain")
        case .channel: self.init(.unavailable, "The connection to \(service) broke; the outcome of the last request is unknown")
        case .system(let fault) where fault.isFullDisk: self.init(.storageFull)
        case .system(let fault):
            self.init(.unavailable, "Vauban is not running (\(fault)); run vauban serve, or start the installed service")
        case .wrongServer(let uid):
            self.init(.unavailable, "The socket of \(service) belongs to user \(uid), who is not Vauban; nothing was sent")
        case .noKeychain(let home):
            let name = PlainLine.path(home, charactersMax: 200)
            self.init(
                .unavailable,
                "VAUBAN_HOME names \(name), where there is no keychain; make one there with vauban setup, or unset VAUBAN_HOME")
        case .unproven(let why): self.init(.unavailable, "\(first) refused the connection: \(why)")
        }
    }
}

extension Service {
    /// Returns the service of this process. Throws a refusal that describes how to get one.
    package static func current() throws(Refusal) -> Service {
        do throws(ServiceError) {
            return try find()
        } catch {
            throw Refusal(.unavailable, error.description)
        }
    }
}
