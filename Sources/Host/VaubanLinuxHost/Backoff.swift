/// The pauses between connection attempts, in milliseconds as poll takes them. They grow while connections are short-lived.
package struct Backoff: Sendable {
    /// A connection that lasted this long (nanoseconds) resets the pause to the shortest.
    private static let goodConnection: UInt64 = 1_000_000_000
    private let shortest: Int32
    private let longest: Int32
    private var pause: Int32 = 0

    package init(from shortest: Int32, to longest: Int32) {
        self.shortest = shortest
        self.longest = longest
    }

    /// Returns the pause after a connection that lasted so many nanoseconds.
    package mutating func pause(afterConnectionLasting duration: UInt64) -> Int32 {
        pause = duration > Self.goodConnection ? shortest : min(max(pause * 2, shortest), longest)
        return pause
    }
}
