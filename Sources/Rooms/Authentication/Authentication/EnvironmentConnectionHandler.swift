internal import VaubanAuthenticationWire
internal import VaubanDER
internal import VaubanLinuxHost

/// Serves one watcher on its own thread. It receives notices and sends nothing.
struct EnvironmentConnectionHandler {
    let visitor: AcceptedConnection
    let desk: EnvironmentDispatcher

    func serve() {
        defer { visitor.channel.shutDown() }
        do {
            try desk.arrive(visitor)
            defer { desk.leave(visitor) }
            _ = try visitor.channel.receive(.idle)
            throw DERError("a watcher must not send anything")
        } catch ChannelError.closed {
            return
        } catch {
            // The peer may be gone already, which ends the connection just as well.
            try? visitor.channel.send(header: EnvironmentNotice.refused(ConnectionRefusal.refusal(error)).encoded())
        }
    }
}
