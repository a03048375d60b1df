import CGtk
import Foundation

typealias Widget = UnsafeMutablePointer<GtkWidget>

/// A closure that C code holds as a pointer.
final class Handler: Sendable {
    private let run: @MainActor () -> Void

    init(_ run: @escaping @MainActor () -> Void) { self.run = run }

    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    /// Calls the closure behind a pointer, on the main thread.
    static func call(_ pointer: UnsafeMutableRawPointer?) {
        guard let pointer else { return }
        let handler = Unmanaged<Handler>.fromOpaque(pointer).takeUnretainedValue()
        MainActor.assumeIsolated { handler.run() }
    }

    static func release(_ pointer: UnsafeMutableRawPointer?) {
        if let pointer { Unmanaged<Handler>.fromOpaque(pointer).release() }
    }
}

/// Calls a closure each time a widget emits a signal, until the widget is destroyed.
@MainActor func on(_ object: UnsafeMutableRawPointer?, signal: String, run: @escaping @MainActor () -> Void) {
    desktop_on(object, signal, { Handler.call($0) }, Handler(run).retained, { data, _ in Handler.release(data) })
}

enum MainLoop {
    /// Runs a closure on the main thread; can be called from any thread.
    static func post(_ run: @escaping @MainActor () -> Void) { post(run, priority: G_PRIORITY_DEFAULT) }

    /// Runs a closure on the main thread, once the window is drawn and nothing else is pending.
    static func postWhenDrawn(_ run: @escaping @MainActor () -> Void) { post(run, priority: G_PRIORITY_DEFAULT_IDLE) }

    private static func post(_ run: @escaping @MainActor () -> Void, priority: Int32) {
        g_idle_add_full(
            priority,
            { data in
                Handler.call(data)
                return 0
            }, Handler(run).retained, { Handler.release($0) })
    }

    /// Runs `work`, which may wait for the service or the user, on a thread of its own, then `then` with the result on the main thread.
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

    /// Sets the closure and the time, in place of earlier ones.
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
