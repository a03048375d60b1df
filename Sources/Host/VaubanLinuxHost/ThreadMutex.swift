// Locks for heavily used paths. On Linux `Synchronization.Mutex` locks by FUTEX_LOCK_PI, by which the kernel hands the lock to a sleeping
// thread, so that all others wait until that one has been woken (swiftlang/swift#88440): throughput fell as clients were added. These are
// the C library's locks, which a running thread may take first.

package import Glibc

/// A value under a lock. A thread that locks it again while it holds it ends the process, as with `Synchronization.Mutex`.
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
        // Checks the holder, which costs one comparison, so that a mistake of ours ends the process instead of hanging it.
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

    /// Returns the result of `body`, which has exclusive access to the value.
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
