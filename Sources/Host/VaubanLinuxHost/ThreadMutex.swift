// Locks for what many requests pass. On Linux `Synchronization.Mutex` locks by FUTEX_LOCK_PI, by which the kernel hands the lock to a
// thread
// that still sleeps, so that all others wait until that one has been woken (swiftlang/swift#88440): the more clients there were, the
// less they got done together. These are the C library's, which a thread that runs may take first.

package import Glibc

/// A value under a lock. A thread that locks it again while it holds it ends the process, as it does with `Synchronization.Mutex`.
///
/// `@unchecked Sendable`: the value came in as `sending`, so nobody else has it; it is reached only between lock and unlock, by one
/// thread at a time; and both addresses stay the same from `init` to `deinit`, which nobody can call while a method borrows this.
package struct ThreadMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: consuming sending Value) {
        var attributes = pthread_mutexattr_t()
        mutex = .allocate(capacity: 1)
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        // Checks who holds it, which costs a comparison, so that a mistake of ours shows itself instead of waiting for ever.
        let isMade =
            pthread_mutexattr_init(&attributes) == 0
            && pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK)) == 0
            && pthread_mutex_init(mutex, &attributes) == 0
        precondition(isMade, "a lock cannot be made")
        pthread_mutexattr_destroy(&attributes)
    }

    @inlinable
    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Answers what `body` answers, which alone has the value for as long as it runs.
    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let problem = pthread_mutex_lock(mutex)
        precondition(problem == 0, "a thread waits for itself")
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }

    /// The same without waiting; nil where another thread holds the lock.
    @inlinable
    package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
