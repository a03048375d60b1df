// Threads without Foundation's `Thread`, which would load all of Foundation into each room and does not report a failure to create a
// thread.

import CVaubanLinux
import Glibc

/// Detached threads with a small stack.
package enum HostThread {
    /// The size of each stack, in bytes. Only touched pages take memory.
    private static let stackBytes = 512 << 10

    private final class Body {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }

    /// Runs `work` on a new thread. Throws if the system has no further thread for this process (pthread_create(3)).
    package static func start(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackBytes)
        let body = Unmanaged.passRetained(Body(work))
        var thread = pthread_t()
        // The new thread would inherit the vector registers, possibly with a key that was just used, and the dynamic loader would save them
        // on its stack.
        vauban_clear_vectors()
        let fault = pthread_create(
            &thread, &attributes,
            { body in
                if let body { Unmanaged<Body>.fromOpaque(body).takeRetainedValue().work() }
                return nil
            }, body.toOpaque())
        guard fault != 0 else { return }
        body.release()
        throw SystemError("start a thread", code: fault)
    }

    /// Runs `work` on a new thread, or on the calling one if the system has no further thread, so that the work is late but not lost.
    package static func startOrRun(_ work: @escaping @Sendable () -> Void) {
        do { try start(work) } catch { work() }
    }

    /// Runs `work` on a new thread for as long as the process runs. If there is no thread for it, exits with `EX_OSERR`, so that the
    /// process is restarted: it could not do its task.
    package static func startForLife(_ work: @escaping @Sendable () -> Void) {
        do {
            try start(work)
        } catch {
            _ = Array("\(error)\n".utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            exit(EX_OSERR)
        }
    }
}
