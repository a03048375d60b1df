import CGtk

/// A press of a real key or mouse button. What a program does over the accessibility bus does not count.
@MainActor struct RealPress {
    private var time: gint64?

    /// GTK delays the activation of a button by the keyboard for 250 ms, and a busy machine longer.
    private static let microsecondsMax: gint64 = 2_000_000

    mutating func note() { time = g_get_monotonic_time() }
    mutating func forget() { time = nil }

    /// Returns whether there was a press just now, which counts once.
    mutating func take() -> Bool {
        defer { time = nil }
        return time.map { g_get_monotonic_time() - $0 <= Self.microsecondsMax } ?? false
    }
}
