// The memory that holds secrets: by default the heap. A program that holds other users' keys installs better memory from its host layer.

internal import Synchronization

/// An allocator for secrets: two functions that any thread may call.
package final class SecretAllocator: Sendable {
    /// Returns exactly this many zeroed bytes (at least 1), aligned to 16; nil if none are available, in which case the heap is used.
    let allocate: @Sendable (Int) -> UnsafeMutableRawBufferPointer?
    /// Zeroes memory from `allocate` and takes it back.
    let deallocate: @Sendable (UnsafeMutableRawBufferPointer) -> Void

    package init(
        allocate: @escaping @Sendable (Int) -> UnsafeMutableRawBufferPointer?,
        deallocate: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
    ) {
        self.allocate = allocate
        self.deallocate = deallocate
    }
}

package enum SecretMemory {
    private static let installed = Atomic<Unmanaged<SecretAllocator>?>(nil)

    /// Installs the memory for all further secrets of this process. Only the first call has an effect; later ones return false. Existing
    /// secrets stay where they are, so call this before the first secret is created.
    package static func install(_ allocator: SecretAllocator) -> Bool {
        let kept = Unmanaged.passRetained(allocator)
        let (isFirst, _) = installed.compareExchange(expected: nil, desired: kept, ordering: .acquiringAndReleasing)
        if !isFirst { kept.release() }
        return isFirst
    }

    /// Unmanaged, since it is never released: every secret uses it twice, and reference counting would cost more than the allocation.
    static var allocator: Unmanaged<SecretAllocator>? { installed.load(ordering: .acquiring) }
}
