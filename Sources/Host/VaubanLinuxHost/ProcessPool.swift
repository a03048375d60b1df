import Glibc

/// Idle objects, such as connections, kept for later calls. A forked child starts with an empty pool, since it must not use the same
/// objects as its parent.
package final class ProcessPool<Element: Sendable>: Sendable {
    private let idle = ThreadMutex<(process: pid_t, elements: [Element])>((0, []))

    /// The number of objects that are kept.
    private static var idleMax: Int { 4 }

    package init() {}

    /// Takes the preferred object that was returned last, otherwise any object that was returned last.
    package func take(preferring isPreferred: (Element) -> Bool = { _ in true }) -> Element? {
        let process = getpid()
        return idle.withLock { pool in
            if pool.process != process { pool = (process, []) }
            guard let index = pool.elements.lastIndex(where: isPreferred) else { return pool.elements.popLast() }
            return pool.elements.remove(at: index)
        }
    }

    /// Keeps an object whose last call ended normally and can no longer be cancelled.
    package func give(back element: Element, _ cancellation: CallCancellation? = nil) {
        if let cancellation, !cancellation.finish() { return }
        let process = getpid()
        idle.withLock { pool in
            if pool.process == process && pool.elements.count < Self.idleMax { pool.elements.append(element) }
        }
    }
}
