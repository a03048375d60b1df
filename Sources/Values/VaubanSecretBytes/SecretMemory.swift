// Where the bytes of secrets lie. By itself that is the heap; a program that holds other users' keys has better memory,
// which its host layer knows how to get.

internal import Synchronization

/// Memory for secrets, as two functions that any thread may call.
package final class SecretKeeper: Sendable {
    /// Zeroed memory of exactly so many bytes (at least 1), aligned to 16; nil where none is to be had, and then the secret
    /// lies on the heap.
    let take: @Sendable (Int) -> UnsafeMutableRawBufferPointer?
    /// Takes back what `take` answered, and overwrites it with zeros.
    let giveBack: @Sendable (UnsafeMutableRawBufferPointer) -> Void

    package init(
        take: @escaping @Sendable (Int) -> UnsafeMutableRawBufferPointer?,
        giveBack: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
    ) {
        self.take = take
        self.giveBack = giveBack
    }
}

package enum SecretMemory {
    private static let installed = Atomic<Unmanaged<SecretKeeper>?>(nil)

    /// From now on secrets of this process lie in this memory; the first call counts, and later ones answer false. Secrets
    /// that exist already stay where they are, so a program calls it before its first.
    package static func use(_ keeper: SecretKeeper) -> Bool {
        let kept = Unmanaged.passRetained(keeper)
        let (isFirst, _) = installed.compareExchange(expected: nil, desired: kept, ordering: .acquiringAndReleasing)
        if !isFirst { kept.release() }
        return isFirst
    }

    /// Unmanaged, since it is never let go: each secret asks for it twice, and counting references would cost more than the
    /// memory does.
    static var keeper: Unmanaged<SecretKeeper>? { installed.load(ordering: .acquiring) }
}
