import Glibc

/// The times of single operations, in nanoseconds.
struct Samples {
    private var sorted: [UInt64] = []

    /// Runs and times the body repeatedly. Checks each result outside the measured time.
    init<Answer>(_ count: Int, _ body: (Int) throws -> Answer, check: (Int, Answer) throws -> Void = { _, _ in }) rethrows {
        sorted.reserveCapacity(count)
        for index in 0..<count {
            let start = Self.now
            let answer = try body(index)
            sorted.append(Self.now - start)
            try check(index, answer)
        }
        sorted.sort()
    }

    init(_ times: [UInt64]) { sorted = times.sorted() }

    /// The median in microseconds.
    var median: Double { quantile(0.5) }
    var p99: Double { quantile(0.99) }
    var mean: Double { Double(sorted.reduce(0, +)) / Double(max(sorted.count, 1)) / 1000 }

    private func quantile(_ part: Double) -> Double {
        guard !sorted.isEmpty else { return .nan }
        return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]) / 1000
    }

    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// An error that ends the run: a measurement with a wrong result is worthless.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
