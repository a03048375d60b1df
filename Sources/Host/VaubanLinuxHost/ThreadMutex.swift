// Locks for heavily used paths. On Linux `Synchronization.Mutex` uses FUTEX_LOCK_PI, with which the kernel passes the lock to a sleeping
// thread, and all other threads wait until that one runs (swiftlang/swift#88440): throughput fell as clients were added. These are the C
// library's locks, which a running thread may take first.

package import Glibc

/// A value under a lock. Locking it again on the same thread ends the process, as with `Synchronization.Mutex`.
///
/// `@unchecked Sendable`: the value came in as `sending`, so no other thread has it; it is reached only between lock and unlock, by one
/// thread at a time; and both addresses stay the same from `init` to `deinit`, which cannot be called while a method borrows this.
package struct ThreadMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: consuming sending Value) {
        var attributes = pthread_mutexattr_t()
        mutex = .allocate(capacity: 1)
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        // This type checks the holder, which costs one comparison, so that a recursive lock ends the process instead of hanging it.
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

    /// Calls `body` with exclusive access to the value, and returns its result.
    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let problem = pthread_mutex_lock(mutex)
        precondition(problem == 0, "a thread waits for itself")
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }

    /// Does the same without waiting; nil if another thread holds the lock.
    @inlinable
    package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
