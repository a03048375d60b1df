package import Glibc

/// A value that any number of threads read concurrently, and that one thread changes while no thread reads. No reader overtakes a waiting
/// writer, so a change happens however many readers there are. A thread must neither read nor write again while it reads.
///
/// `@unchecked Sendable`: readers share the value, which is `Sendable`, as a constant; a writer has exclusive access to it; and both
/// addresses stay the same from `init` to `deinit`, which cannot be called while a method borrows this.
package struct SharedMutex<Value: Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let lock: UnsafeMutablePointer<pthread_rwlock_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: Value) {
        var attributes = pthread_rwlockattr_t()
        lock = .allocate(capacity: 1)
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        let isMade =
            pthread_rwlockattr_init(&attributes) == 0
            && pthread_rwlockattr_setkind_np(&attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)) == 0
            && pthread_rwlock_init(lock, &attributes) == 0
        precondition(isMade, "a lock cannot be made")
        pthread_rwlockattr_destroy(&attributes)
    }

    @inlinable
    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Calls `body` with the value, which does not change meanwhile, and returns its result.
    @inlinable
    package borrowing func withSharedLock<Result, Failure: Error>(_ body: (Value) throws(Failure) -> Result) throws(Failure) -> Result {
        let problem = pthread_rwlock_rdlock(lock)
        precondition(problem == 0, "a thread waits for itself")
        defer { pthread_rwlock_unlock(lock) }
        return try body(value.pointee)
    }

    /// Calls `body` with exclusive access to the value, and returns its result.
    @inlinable
    package borrowing func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        let problem = pthread_rwlock_wrlock(lock)
        precondition(problem == 0, "a thread waits for itself")
        defer { pthread_rwlock_unlock(lock) }
        return try body(&value.pointee)
    }
}
