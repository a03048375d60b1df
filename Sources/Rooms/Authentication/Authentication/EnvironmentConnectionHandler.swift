internal import VaubanAuthenticationWire
internal import VaubanDER
internal import VaubanLinuxHost

/// Serves one watcher on its own thread. It receives notices and sends nothing.
struct EnvironmentConnectionHandler {
    let connection: AcceptedConnection
    let dispatcher: EnvironmentDispatcher

    func serve() {
        defer { connection.channel.shutDown() }
        do {
            try dispatcher.add(connection)
            defer { dispatcher.remove(connection) }
            _ = try connection.channel.receive(.idle)
            throw DERError("a watcher must not send anything")
        } catch ChannelError.closed {
            return
        } catch {
            // The peer may have disconnected already, which has the same effect.
            try? connection.channel.send(header: EnvironmentNotice.refused(ConnectionRefusal.refusal(error)).encoded())
        }
    }
}
