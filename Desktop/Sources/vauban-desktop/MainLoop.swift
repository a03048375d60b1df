import CGtk
import Foundation

typealias Widget = UnsafeMutablePointer<GtkWidget>

/// A closure that C holds by a pointer.
final class Handler: Sendable {
    private let run: @MainActor () -> Void

    init(_ run: @escaping @MainActor () -> Void) { self.run = run }

    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    /// Calls the closure of a pointer, on the thread that draws.
    static func call(_ pointer: UnsafeMutableRawPointer?) {
        guard let pointer else { return }
        let handler = Unmanaged<Handler>.fromOpaque(pointer).takeUnretainedValue()
        MainActor.assumeIsolated { handler.run() }
    }

    static func release(_ pointer: UnsafeMutableRawPointer?) {
        if let pointer { Unmanaged<Handler>.fromOpaque(pointer).release() }
    }
}

/// Calls a closure at each signal of a widget, as long as the widget lives.
@MainActor func on(_ object: UnsafeMutableRawPointer?, signal: String, run: @escaping @MainActor () -> Void) {
    desktop_on(object, signal, { Handler.call($0) }, Handler(run).retained, { data, _ in Handler.release(data) })
}

enum MainLoop {
    /// Runs a closure on the thread that draws; call it from any thread.
    static func post(_ run: @escaping @MainActor () -> Void) { post(run, priority: G_PRIORITY_DEFAULT) }

    /// Runs a closure on the thread that draws, once it has drawn and there is nothing else to do.
    static func postWhenDrawn(_ run: @escaping @MainActor () -> Void) { post(run, priority: G_PRIORITY_DEFAULT_IDLE) }

    private static func post(_ run: @escaping @MainActor () -> Void, priority: Int32) {
        g_idle_add_full(
            priority,
            { data in
                Handler.call(data)
                return 0
            }, Handler(run).retained, { Handler.release($0) })
    }

    /// Runs work that may wait for the service or the user on its own thread, and `then` with its result on the thread that draws.
    static func background<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value, then: @escaping @MainActor (Result<Value, any Error>) -> Void
    ) {
        let thread = Thread {
            let result = Result { try work() }
            post { then(result) }
        }
        thread.stackSize = 1 << 19
        thread.start()
    }
}

/// A closure that runs after a time, once or repeatedly, until it is stopped.
@MainActor final class Alarm {
    private var source: UInt32 = 0

    /// Replaces what was set before.
    func set(milliseconds: UInt32, repeats: Bool = false, _ run: @escaping @MainActor () -> Void) {
        stop()
        let call: @MainActor () -> Void = { [weak self] in
            if !repeats { self?.source = 0 }
            run()
        }
        let again: GSourceFunc = { data in
            Handler.call(data)
            return 1
        }
        let once: GSourceFunc = { data in
            Handler.call(data)
            return 0
        }
        source = g_timeout_add_full(
            G_PRIORITY_DEFAULT, milliseconds, repeats ? again : once, Handler(call).retained, { Handler.release($0) })
    }

    func stop() {
        if source != 0 { g_source_remove(source) }
        source = 0
    }
}
