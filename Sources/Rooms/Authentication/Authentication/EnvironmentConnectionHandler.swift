internal import VaubanAuthenticationWire
internal import VaubanDER
internal import VaubanLinuxHost

/// One watcher's connection, on the thread that the door gave it. It says nothing; what it is told comes from the desk.
struct EnvironmentConnectionHandler {
    let visitor: AcceptedConnection
    let desk: EnvironmentDispatcher

    func serve() {
        defer { visitor.channel.shutDown() }
        do {
            try desk.arrive(visitor)
            defer { desk.leave(visitor) }
            _ = try visitor.channel.receive(.idle)
            throw DERError("a watcher says nothing")
        } catch ChannelError.closed {
            return
        } catch {
            // The other side may be gone already, which ends the connection just as well.
            try? visitor.channel.send(header: EnvironmentNotice.refused(ConnectionRefusal.refusal(error)).encoded())
        }
    }
}
