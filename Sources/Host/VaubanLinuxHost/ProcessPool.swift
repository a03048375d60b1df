import Glibc

/// What a process keeps for the next call while nobody uses it, such as connections: a forked child begins with none of it, since both
/// would use the same one.
package final class ProcessPool<Element: Sendable>: Sendable {
    private let idle = ThreadMutex<(process: pid_t, elements: [Element])>((0, []))

    /// As many as are kept.
    private static var idleMax: Int { 4 }

    package init() {}

    /// The last one that was given back and is preferred, or else the last one.
    package func take(preferring isPreferred: (Element) -> Bool = { _ in true }) -> Element? {
        let process = getpid()
        return idle.withLock { pool in
            if pool.process != process { pool = (process, []) }
            guard let index = pool.elements.lastIndex(where: isPreferred) else { return pool.elements.popLast() }
            return pool.elements.remove(at: index)
        }
    }

    /// Keeps one on which the last call ended as it should, and which no cancellation of that call reaches from now on.
    package func give(back element: Element, _ cancellation: CallCancellation? = nil) {
        if let cancellation, !cancellation.finish() { return }
        let process = getpid()
        idle.withLock { pool in
            if pool.process == process && pool.elements.count < Self.idleMax { pool.elements.append(element) }
        }
    }
}
