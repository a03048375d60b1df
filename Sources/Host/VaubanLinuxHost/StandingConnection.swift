import Foundation
import Glibc

/// A connection that is to be there for as long as the process runs: a room that never dials is spoken to over it. Whoever keeps it
/// connects
/// again whenever it ends.
package struct StandingConnection: Sendable {
    private let address: ServerAddress
    private let role: Int64
    private let longestPause: Int32

    private static let shortestPause: Int32 = 20
    private static let threadStackBytes = 512 * 1024

    /// `longestPause` is the longest pause between two attempts, in milliseconds.
    package init(_ address: ServerAddress, role: Int64, longestPause: Int32 = 2_000) {
        self.address = address
        self.role = role
        self.longestPause = longestPause
    }

    /// Serves until the process ends, on a new connection whenever one is lost. `serve` throws why it ends; `lost` is told that, and why a
    /// connection could not be made.
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
            // Nothing can be waited for here but time: the socket is there, and who should be behind it is not.
            poll(nil, 0, backoff.pause(afterLiving: MachineClock.monotonic - began))
        }
    }

    /// The same on a thread of its own.
    package func keepOnThread(serve: @escaping @Sendable (Channel) throws -> Void, lost: @escaping @Sendable (any Error) -> Void) {
        let thread = Thread { keep(serve: serve, lost: lost) }
        thread.stackSize = Self.threadStackBytes
        thread.start()
    }
}
