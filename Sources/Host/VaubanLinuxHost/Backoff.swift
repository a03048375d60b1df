/// Pauses before a connection is tried again, which grow while connections are short-lived. In milliseconds, as poll takes them.
package struct Backoff: Sendable {
    /// A connection that lived this long (nanoseconds) was a good one, so the next pause is the shortest again.
    private static let goodConnection: UInt64 = 1_000_000_000
    private let shortest: Int32
    private let longest: Int32
    private var pause: Int32 = 0

    package init(from shortest: Int32, to longest: Int32) {
        self.shortest = shortest
        self.longest = longest
    }

    /// The pause after a connection that lived so long, in nanoseconds.
    package mutating func pause(afterLiving lived: UInt64) -> Int32 {
        pause = lived > Self.goodConnection ? shortest : min(max(pause * 2, shortest), longest)
        return pause
    }
}
