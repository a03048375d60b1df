/// A choice of how memory is given back: Apple's `CFAllocator`.
///
/// Swift manages the memory of every object here, so an allocator carries no state. The one
/// distinction that callers make, free the bytes or leave them alone, is whether they pass
/// `kCFAllocatorNull`.
public final class CFAllocator: Sendable {
    fileprivate init() {}
}

/// The ordinary allocator: Apple's `kCFAllocatorDefault`, which is nil there too.
public let kCFAllocatorDefault: CFAllocator! = nil

/// The allocator that gives nothing back: Apple's `kCFAllocatorNull`.
public let kCFAllocatorNull: CFAllocator! = CFAllocator()
