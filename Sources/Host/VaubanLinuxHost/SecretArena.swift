internal import CVaubanLinux
import Glibc
internal import VaubanSecretBytes

/// Memory for secrets that is in no dump and, as far as the kernel allows, neither in swap nor in a hibernation image. Small secrets share
/// chunks, whose slots are reused by size; a large secret has its own pages, which are returned to the kernel.
package final class SecretArena: Sendable {
    /// The protection of pages, in ascending order.
    package enum PageProtection: Int, Comparable, Sendable {
        /// In no dump, but not locked, since the limit on locked memory is too low.
        case unlocked
        case locked
        /// Not mapped even by the kernel.
        case secretFile

        package static func < (one: PageProtection, other: PageProtection) -> Bool { one.rawValue < other.rawValue }
    }

    private struct State {
        /// For each size the address of the first free slot, or 0. A free slot contains the address of the next one.
        var free = [UInt](repeating: 0, count: SecretMemoryLimits.sizes)
        /// The unused rest of the newest chunk.
        var next: UInt = 0
        var end: UInt = 0
        var weakest: PageProtection?
        /// The locked large secrets by address, and their bytes.
        var locked: Set<UInt> = []
        var lockedBytes = 0
    }

    private let without: Set<HardeningFeature>
    private let largeLockedBytesMax: Int
    private let state: ThreadMutex<State>
    /// Whether as much memory can be locked as a program may need; false if the limit is too low.
    private let locksEnough: Bool

    /// Creates an arena without the features in `without`. A user's program omits memfd_secret, which would keep the machine from
    /// hibernating while the program runs.
    package init(without: Set<HardeningFeature> = []) {
        self.without = without
        // Half of what may be locked is reserved for small secrets, most of which are keys.
        largeLockedBytesMax = Int(clamping: vauban_lock_limit() / 2)
        locksEnough = !without.contains(.mlock) && Self.canLock(SecretMemoryLimits.lockedBytesWanted)
        state = ThreadMutex(State())
        // Creating the first chunk shows what this machine supports.
        state.withLock { state in _ = grow(&state) }
    }

    /// Uses this arena for the process's secrets from now on. A second call has no effect.
    @discardableResult
    package static func hold(without: Set<HardeningFeature> = []) -> SecretArena {
        let arena = SecretArena(without: without)
        _ = SecretMemory.install(SecretAllocator(allocate: { arena.take($0) }, deallocate: { arena.giveBack($0) }))
        return arena
    }

    /// The lowest protection among the chunks of small secrets; nil if there is no memory at all.
    package var backing: PageProtection? { state.withLock { $0.weakest } }

    /// The features that this machine lacks.
    package var missing: Set<HardeningFeature> {
        switch backing {
        case .secretFile: locksEnough ? [] : [.mlock]
        case .locked: locksEnough ? [.memfdSecret] : [.memfdSecret, .mlock]
        case .unlocked, nil: [.memfdSecret, .mlock]
        }
    }

    /// Returns zeroed memory for a secret of `count` bytes (at least 1); nil if there is no memory.
    package func take(_ count: Int) -> UnsafeMutableRawBufferPointer? {
        guard count <= SecretMemoryLimits.slotBytesMax else { return large(count) }
        let size = Self.size(of: count)
        let address = state.withLock { state -> UInt in
            let first = state.free[size]
            if let slot = UnsafeMutableRawPointer(bitPattern: first) {
                state.free[size] = slot.load(as: UInt.self)
                slot.storeBytes(of: 0, as: UInt.self)
                return first
            }
            let bytes = UInt(SecretMemoryLimits.slotBytesMin << size)
            if state.end - state.next < bytes, !grow(&state) { return 0 }
            defer { state.next += bytes }
            return state.next
        }
        return UnsafeMutableRawPointer(bitPattern: address).map { UnsafeMutableRawBufferPointer(start: $0, count: count) }
    }

    /// Overwrites memory from `take` and makes it available again.
    package func giveBack(_ storage: UnsafeMutableRawBufferPointer) {
        guard let slot = storage.baseAddress else { return }
        explicit_bzero(slot, storage.count)
        guard storage.count <= SecretMemoryLimits.slotBytesMax else { return unmap(slot, Self.pages(storage.count)) }
        let size = Self.size(of: storage.count)
        let address = UInt(bitPattern: slot)
        state.withLock { state in
            UnsafeMutableRawPointer(bitPattern: address)?.storeBytes(of: state.free[size], as: UInt.self)
            state.free[size] = address
        }
    }

    // MARK: Small secrets

    /// Returns the index of the smallest slot size that fits: 0 for the smallest slot, one more for each doubling.
    private static func size(of count: Int) -> Int {
        let units = (count - 1) / SecretMemoryLimits.slotBytesMin
        return Int.bitWidth - units.leadingZeroBitCount
    }

    /// Starts a new chunk with the best protection available now. The rest of the previous one, which is less than the requested slot,
    /// stays unused.
    private func grow(_ state: inout State) -> Bool {
        let count = SecretMemoryLimits.chunkBytes
        var pages: UnsafeMutableRawPointer?
        var backing = PageProtection.secretFile
        if !without.contains(.memfdSecret) { pages = vauban_secret_file_pages(count) }
        if pages == nil {
            pages = vauban_private_pages(count)
            let isLocked = !without.contains(.mlock) && vauban_lock_pages(pages, count) == 0
            backing = isLocked ? .locked : .unlocked
        }
        guard let pages else { return false }
        state.next = UInt(bitPattern: pages)
        state.end = state.next + UInt(count)
        state.weakest = min(state.weakest ?? .secretFile, backing)
        return true
    }

    private static func canLock(_ count: Int) -> Bool {
        guard let pages = vauban_private_pages(count) else { return false }
        defer { munmap(pages, count) }
        return vauban_lock_pages(pages, count) == 0
    }

    // MARK: Large secrets

    private static func pages(_ count: Int) -> Int { (count + 4095) & ~4095 }

    private func large(_ count: Int) -> UnsafeMutableRawBufferPointer? {
        let bytes = Self.pages(count)
        guard let pages = vauban_private_pages(bytes) else { return nil }
        if !without.contains(.mlock), reserve(bytes) {
            if vauban_lock_pages(pages, bytes) == 0 {
                let address = UInt(bitPattern: pages)
                state.withLock { _ = $0.locked.insert(address) }
            } else {
                state.withLock { $0.lockedBytes -= bytes }
            }
        }
        return UnsafeMutableRawBufferPointer(start: pages, count: count)
    }

    private func reserve(_ bytes: Int) -> Bool {
        state.withLock { state in
            guard state.lockedBytes + bytes <= largeLockedBytesMax else { return false }
            state.lockedBytes += bytes
            return true
        }
    }

    private func unmap(_ pages: UnsafeMutableRawPointer, _ bytes: Int) {
        let address = UInt(bitPattern: pages)
        // Done before the pages are returned, since another secret may get the same address right afterwards.
        state.withLock { state in
            if state.locked.remove(address) != nil { state.lockedBytes -= bytes }
        }
        munmap(pages, bytes)
    }
}
