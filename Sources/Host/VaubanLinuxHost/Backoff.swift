/// The pauses between attempts, in milliseconds as poll takes them. Each is twice the one before, up to the longest.
package struct Backoff: Sendable {
    /// A connection that lasted this long (nanoseconds) resets the pause to the shortest.
    private static let goodConnection: UInt64 = 1_000_000_000
    private let shortest: Int32
    private let longest: Int32
    private let isSpread: Bool
    private var whole: Int32 = 0

    /// Creates the pauses. With `spread`, each is shortened at random, by up to a half, so that the clients that lost one server at the
    /// same moment do not all return at the same moment.
    package init(from shortest: Int32, to longest: Int32, spread isSpread: Bool = false) {
        self.shortest = shortest
        self.longest = longest
        self.isSpread = isSpread
    }

    /// Returns the pause after one more attempt that failed.
    package mutating func pause() -> Int32 { pause(afterConnectionLasting: 0) }

    /// Returns the pause after a connection that lasted this many nanoseconds. It grows while connections are short-lived.
    package mutating func pause(afterConnectionLasting duration: UInt64) -> Int32 {
        whole = duration > Self.goodConnection ? shortest : whole > longest / 2 ? longest : min(max(whole * 2, shortest), longest)
        return isSpread ? .random(in: whole - whole / 2...whole) : whole
    }
}
