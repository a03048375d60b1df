internal import VaubanAccessPolicy
internal import VaubanAuthenticationWire
internal import VaubanDER
internal import VaubanLinuxHost

/// One watcher's connection, on the thread that the door gave it. It says nothing; what it is told comes from the desk.
struct WatchDoor {
    let visitor: Visitor
    let desk: EnvironmentDesk

    func serve() {
        defer { visitor.channel.shutDown() }
        do {
            try desk.arrive(visitor)
            defer { desk.leave(visitor) }
            _ = try visitor.channel.receive(.idle)
            throw DERFault("a watcher says nothing")
        } catch ChannelFault.closed {
            return
        } catch {
            // The other side may be gone already, which ends the connection just as well.
            try? visitor.channel.send(header: WatchNotice.refused(DoorFault.refusal(error)).encoded())
        }
    }
}
