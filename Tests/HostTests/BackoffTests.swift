import Testing
import VaubanLinuxHost

@Suite struct BackoffTests {
    /// Returns the pauses after connections that lasted so many nanoseconds.
    private static func pauses(_ backoff: Backoff, after durations: [UInt64]) -> [Int32] {
        var backoff = backoff
        return durations.map { backoff.pause(afterConnectionLasting: $0) }
    }

    private static func pauses(_ backoff: Backoff, _ count: Int) -> [Int32] {
        var backoff = backoff
        return (0..<count).map { _ in backoff.pause() }
    }

    @Test("Pauses double from the shortest to the longest") func pausesDouble() {
        #expect(Self.pauses(Backoff(from: 100, to: 1_500), 7) == [100, 200, 400, 800, 1_500, 1_500, 1_500])
        let largest = Int32.max
        #expect(Self.pauses(Backoff(from: 1 << 29, to: largest), 4) == [1 << 29, 1 << 30, largest, largest])
        #expect(Self.pauses(Backoff(from: 50, to: 50), 3) == [50, 50, 50])
    }

    @Test("A connection that lasted begins the pauses anew") func goodConnectionResets() {
        let durations: [UInt64] = [0, 1_000_000_000, 5, 1_000_000_001, 0]
        #expect(Self.pauses(Backoff(from: 100, to: 10_000), after: durations) == [100, 200, 400, 100, 200])
    }

    @Test("Spread pauses differ, and are at least half as long") func spreadPausesDiffer() {
        let drawn = (0..<200).map { _ in Self.pauses(Backoff(from: 1_000, to: 3_000, spread: true), 4) }
        let limits: [ClosedRange<Int32>] = [500...1_000, 1_000...2_000, 1_500...3_000, 1_500...3_000]
        for pauses in drawn { #expect(zip(limits, pauses).allSatisfy { $0.contains($1) }, "\(pauses)") }
        #expect(Set(drawn).count > 100)
    }
}
