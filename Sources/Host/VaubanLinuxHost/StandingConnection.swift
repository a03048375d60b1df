import Glibc

/// A connection that stays open for as long as the process runs, to reach a room that never connects by itself. It is established again
/// whenever it ends.
package struct StandingConnection: Sendable {
    private let address: ServerAddress
    private let role: Int64
    private let longestPause: Int32

    private static let shortestPause: Int32 = 20

    /// `longestPause` is the longest pause between two attempts, in milliseconds.
    package init(_ address: ServerAddress, role: Int64, longestPause: Int32 = 2_000) {
        self.address = address
        self.role = role
        self.longestPause = longestPause
    }

    /// Serves until the process ends, and connects again whenever a connection is lost. `serve` throws the reason why it ends; `lost` is
    /// called with that reason, or with the reason why connecting failed.
    package func keep(serve: (Channel) throws -> Void, lost: (any Error) -> Void) -> Never {
        var backoff = Backoff(from: Self.shortestPause, to: longestPause)
        while true {
            let began = MachineClock.monotonic
            do {
                // The launcher and systemd keep the socket open while the room starts, so connecting waits for it.
                let channel = try address.connect(role: role)
                defer { channel.shutDown() }
                try serve(channel)
            } catch {
                lost(error)
            }
            // The socket exists without a server, and nothing announces the server, so this tries again after a pause.
            poll(nil, 0, backoff.pause(afterConnectionLasting: MachineClock.monotonic - began))
        }
    }

    /// Does the same on a separate thread. Exits the process if there is no thread for it.
    package func keepOnThread(serve: @escaping @Sendable (Channel) throws -> Void, lost: @escaping @Sendable (any Error) -> Void) {
        HostThread.startForLife { keep(serve: serve, lost: lost) }
    }
}
